package org.sparkkinesis.integration.sql

import java.time.temporal.ChronoUnit
import java.time.{Instant, ZoneId}

import scala.concurrent.duration._

import org.sparkkinesis.spark.read.batch.BatchPieces

/** What batch reads with filters and limits fetch, and that their rows are those without pruning. */
class PruningSuite extends TableFixture {
  private val zone = "Europe/Berlin"
  override protected def settings: Map[String, String] = Map("spark.sql.session.timeZone" -> zone)

  private val fast =
    Seq("maxFetchesPerSecond" -> "1000", "minFetchPeriod" -> "10ms", "initialPosition" -> "trim_horizon")
  private val RecordBytes = 30000

  /** Puts records into one shard for a day, one in each period, and adds a view of the rows without their payloads. */
  private def fill(stream: String, bytes: Int, period: FiniteDuration): String = {
    kinesis.admin.createStream(stream, 1)
    (0L until 1.day.toMillis / period.toMillis).foreach { index =>
      kinesis.admin.putRecord(stream, s"k$index", new Array[Byte](bytes))
      kinesis.admin.clock.advance(period)
    }
    create(stream, (connection(stream) ++ fast).toSeq: _*)
    val rows = spark.table(stream).drop("data")
    spark.createDataFrame(java.util.Arrays.asList(rows.collect(): _*), rows.schema)
      .createOrReplaceTempView(s"rows_of_$stream")
    stream
  }

  private lazy val day: String = fill("day", RecordBytes, 1.minute)
  private lazy val light: String = fill("light", 10, 10.minutes)

  /** Returns a query's result, and the bytes that GetRecords has returned of each shard meanwhile. */
  private def bytesOf[A](stream: String)(query: => A): (A, Map[String, Long]) = {
    val before = kinesis.admin.bytesRead(stream)
    val result = query
    result -> kinesis.admin.bytesRead(stream).map { case (shard, bytes) => shard -> (bytes - before(shard)) }
  }

  private def planOf(query: String): String =
    spark.sql(s"EXPLAIN $query").collect().map(_.getString(0)).mkString

  private def count(from: String, where: String): Long =
    spark.sql(s"SELECT count(*) FROM $from WHERE $where").head().getLong(0)

  private def noon(stream: String): Instant = {
    val records = kinesis.admin.records(stream)
    Instant.ofEpochMilli(records(records.size / 2).arrivalMillis).truncatedTo(ChronoUnit.HOURS)
  }
  private def local(instant: Instant): String =
    java.time.format.DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").format(instant.atZone(ZoneId.of(zone)))

  test("filters on the time as users write them reduce what is read, and change no row") {
    val t = "approximateArrivalTimestamp"
    val noon = this.noon(light)
    val (from, to) = (local(noon), local(noon.plusSeconds(3600)))
    val midnight = noon.atZone(ZoneId.of(zone)).toLocalDate.atStartOfDay(ZoneId.of(zone)).toInstant
    val date = noon.atZone(ZoneId.of(zone)).toLocalDate
    val until = noon.plusSeconds(3600).minusMillis(1)
    val table = Seq(
      s"$t >= '$from'" -> s"$t >= $noon",
      s"$t >= TIMESTAMP '$from' AND $t < TIMESTAMP '$to'" -> s"$t >= $noon AND $t <= $until",
      s"$t BETWEEN '$from' AND '$to'" -> s"$t >= $noon AND $t <= ${noon.plusSeconds(3600)}",
      s"'$from' < $t AND '$to' >= $t" -> s"$t >= ${noon.plusMillis(1)} AND $t <= ${noon.plusSeconds(3600)}",
      s"$t = '$from'" -> s"$t >= $noon AND $t <= $noon",
      s"$t IN ('$from', '$to')" -> s"($t >= $noon AND $t <= $noon OR $t >= ${noon.plusSeconds(3600)} AND",
      s"$t >= timestamp_millis(${noon.toEpochMilli})" -> s"$t >= $noon",
      s"$t >= CAST('$from' AS TIMESTAMP_NTZ)" -> s"$t >= $noon",
      s"CAST($t AS DATE) = DATE '$date'" -> s"$t >= $midnight AND $t <= ",
      s"date($t) >= '$date'" -> s"$t >= $midnight",
      s"$t >= DATE '$date'" -> s"$t >= $midnight",
      s"CAST($t AS BIGINT) >= ${noon.getEpochSecond}" -> s"$t >= $noon",
      s"$t > current_timestamp() + INTERVAL 3 HOURS" -> s"where $t >= ",
      s"$t < '$from' OR $t >= '$to'" -> s"($t <= ${noon.minusMillis(1)} OR $t >= ${noon.plusSeconds(3600)})",
      s"($t < '$from' OR data IS NULL) AND $t >= '$from' - INTERVAL 2 HOURS" ->
        s"where $t >= ${noon.minusSeconds(7200)} [",
      s"stream = 'light' AND $t < '$from' AND partitionKey <> 'k1'" ->
        s"stream = 'light' AND $t <= ${noon.minusMillis(1)} ["
    )
    for ((where, shown) <- table) {
      val plan = planOf(s"SELECT data FROM light WHERE $where")
      assert(plan.contains(shown), s"$where: $plan")
      assert(count("light", where) == count("rows_of_light", where.replace("data IS NULL", "false")), where)
    }
    val unknown = planOf(s"SELECT data FROM light WHERE hour($t) = 3 OR shardId LIKE '%1'")
    assert(!unknown.contains(" where "), unknown)
  }

  test("an hour of a day costs little more than this hour, with all columns and without the payload") {
    val noon = this.noon(day)
    val where = s"approximateArrivalTimestamp >= '${local(noon)}' AND " +
      s"approximateArrivalTimestamp < '${local(noon.plusSeconds(3600))}'"
    for (columns <- Seq("count(data)", "count(partitionKey)")) {
      val (rows, bytes) = bytesOf("day")(spark.sql(s"SELECT $columns FROM day WHERE $where").head().getLong(0))
      assert(rows == 60)
      // The size of the range was projected from some records.
      assert(bytes.values.sum <= (1.2 * 60 + BatchPieces.SampleRecords) * RecordBytes, columns)
    }
  }

  test("sequence numbers select the part of a shard") {
    val numbers = kinesis.admin.records(day).map(_.sequenceNumber)
    // The first fetch of a task, whose record size is unknown, and the sample.
    val first = (26L + BatchPieces.SampleRecords + 1) * RecordBytes
    def check(where: String, most: Long): Unit = {
      val (rows, bytes) = bytesOf("day")(count("day", where))
      assert(rows == count("rows_of_day", where), where)
      assert(bytes.values.sum <= most, where)
    }
    check(s"sequenceNumber = '${numbers(1000)}'", first)
    check(s"sequenceNumber IN ('${numbers(1000)}', '${numbers(1010)}')", 2 * first)
    check(s"sequenceNumber >= '${numbers(1400)}'", 40L * RecordBytes + first)
    check(s"sequenceNumber > '${numbers(1400)}' AND sequenceNumber <= '${numbers(1420)}'", 20L * RecordBytes + first)
    check(s"sequenceNumber < '${numbers(10)}'", 2 * first)
    // Numbers of nothing, of this length and of others.
    val foreign = (BigInt(numbers(700)) + 12345).toString
    check(s"sequenceNumber = '$foreign'", first)
    check(s"sequenceNumber >= '$foreign'", Long.MaxValue)
    check("sequenceNumber = 'x'", 0)
    check("sequenceNumber >= '9'", Long.MaxValue)
  }

  test("a large shard is divided into tasks that follow each other, and has each record once") {
    val numbers = kinesis.admin.records(day).map(_.sequenceNumber)
    val tasks = spark.table("day").select("sequenceNumber").rdd.glom().collect().map(_.map(_.getString(0)).toSeq).toSeq
    assert(tasks.size == 2 && tasks.forall(_.size > 400), tasks.map(_.size))
    assert(tasks.flatten == numbers)
    // The option says how many shards a task reads.
    assert(spark.read.option("shardsPerTask", "1").table("day").rdd.getNumPartitions == 1)
  }

  test("a limit fetches hardly more than its rows") {
    val (rows, bytes) = bytesOf(day)(spark.sql("SELECT data FROM day LIMIT 3").collect().length)
    assert(rows == 3)
    assert(bytes.values.sum <= 7L * RecordBytes)
    assert(planOf("SELECT data FROM day LIMIT 3").contains(" limit 3 [data]"))
  }

  /** Records of 40 keys in four shards, with the key as payload. */
  private lazy val keys: String = {
    kinesis.admin.createStream("keys", 4)
    (0 until 40).foreach(key => kinesis.admin.putRecord("keys", s"k$key", utf8(s"k$key")))
    create("keys", connection("keys").toSeq: _*)
  }

  private def shard(index: Int): String = f"shardId-$index%012d"

  private def shardsOf(query: => Any): Set[String] =
    bytesOf(keys)(query)._2.collect { case (id, bytes) if bytes > 0 => id }.toSet

  test("a filter on shards reads only these, and so does a join") {
    assert(shardsOf(spark.sql(s"SELECT data FROM $keys WHERE shardId = '${shard(1)}'").collect()) == Set(shard(1)))
    val two = s"SELECT data FROM keys WHERE shardId IN ('${shard(1)}', '${shard(3)}')"
    assert(shardsOf(spark.sql(two).collect()) == Set(shard(1), shard(3)))
    assert(shardsOf(spark.sql("SELECT data FROM keys WHERE stream = 'other'").collect()).isEmpty)
    spark.range(4).selectExpr("concat('shardId-00000000000', id) AS id", "id AS kind").createOrReplaceTempView("kinds")
    val join = "SELECT count(data) FROM keys JOIN kinds ON shardId = kinds.id WHERE kind = 2"
    val inShard = kinesis.admin.records("keys", shard(2)).size.toLong
    // Spark may ask for the size of the stream, which looks at all shards, so it is told not to.
    val read = s"SELECT /*+ BROADCAST(kinds) */ ${join.stripPrefix("SELECT ")}"
    var found = 0L
    val shards = shardsOf { found = spark.sql(read).head().getLong(0) }
    assert(found == inShard)
    assert(shards == Set(shard(2)))
  }

  test("partition keys select shards only if the user says that no producer chooses other shards") {
    val where = "WHERE partitionKey = 'k7'"
    assert(shardsOf(spark.sql(s"SELECT data FROM $keys $where").collect()).size == 4)
    val own = kinesis.admin.shards("keys").find(shard =>
      kinesis.admin.records("keys", shard.id.value).exists(_.partitionKey == "k7")
    ).map(_.id.value)
    def rows = spark.sql(s"SELECT data FROM keys WITH ('partitionKeyPruning' = 'true') $where").collect()
    assert(shardsOf(rows) == own.toSet)
    assert(rows.length == 1)
  }
}
