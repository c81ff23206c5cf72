package org.sparkkinesis.aws.client

import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.{PutEntry, PutResult, ServiceErrorKind, ServiceException, ShardFilter, ShardPage}

class SdkKinesisServiceSuite extends WithEmulator {
  private val First = ShardId.ofIndex(0)

  test("a stream is described by name and by ARN") {
    val arn = emulator.admin.createStream("described", 3)
    Seq(ref("described"), StreamRef.parse(arn).get).foreach { stream =>
      val description = await(service.describeStream(stream))
      assert((description.name, description.arn, description.status) == ("described", arn, StreamStatus.Active))
      assert((description.openShards, description.retentionHours, description.onDemand) == (3, 24, false))
      assert(description.maxRecordBytes == KinesisQuotas.Record.DefaultMaxBytes)
      assert(description.creationMillis > 1_600_000_000_000L)
    }
  }

  test("descriptions and listings have the time at which the service answered, in whole seconds") {
    emulator.admin.createStream("timed", 1)
    Seq[() => Option[Long]](
      () => await(service.describeStream(ref("timed"))).answeredMillis,
      () => await(service.listShards(ref("timed"), ShardFilter.AtLatest, None)).answeredMillis
    ).foreach { call =>
      val before = System.currentTimeMillis() / 1000 * 1000
      val answered = call()
      assert(answered.exists(millis => millis % 1000 == 0 && before <= millis && millis <= System.currentTimeMillis()))
    }
  }

  test("streams are listed page by page") {
    (1 to 3).foreach(i => emulator.admin.createStream(s"listed-$i", 1))
    val names = Iterator
      .unfold(Option(Option("listed"))) { from =>
        from.map { after =>
          val page = await(service.listStreams(after))
          (page.names, if (page.hasMore) Some(page.names.lastOption) else None)
        }
      }
      .flatten
      .toSeq
    assert(names.filter(_.startsWith("listed-")) == Seq("listed-1", "listed-2", "listed-3"))
  }

  test("shards are listed page by page with their ranges and parents") {
    emulator.admin.createStream("many", 2500)
    def all(page: ShardPage): Seq[Shard] =
      page.shards ++ page.next.fold(Seq.empty[Shard])(token =>
        all(await(service.listShards(ref("many"), ShardFilter.FromTrimHorizon, Some(token))))
      )
    val first = await(service.listShards(ref("many"), ShardFilter.FromTrimHorizon, None))
    assert(first.next.isDefined)
    assert(all(first) == emulator.admin.shards("many"))
    emulator.admin.createStream("split", 1)
    emulator.admin.splitShard("split", First.value)
    val shards = await(service.listShards(ref("split"), ShardFilter.FromTrimHorizon, None)).shards
    assert(shards.map(_.parents) == Seq(Nil, Seq(First), Seq(First)))
    assert(shards.map(_.isOpen) == Seq(false, true, true))
    assert(
      await(service.listShards(ref("split"), ShardFilter.AtLatest, None)).shards.map(_.id) ==
        Seq(1L, 2L).map(ShardId.ofIndex)
    )
  }

  test("records from every position have key, payload, sequence number and arrival time") {
    emulator.admin.createStream("records", 1)
    val payloads = Seq("a", "zwei", "").map(_.getBytes("UTF-8")) :+ Array.tabulate(300)(_.toByte)
    val results = await(service.putRecords(ref("records"), payloads.toIndexedSeq.map(PutEntry("ключ", None, _))))
    val numbers = results.collect { case PutResult.Accepted(First, number) => number }
    assert(numbers.size == 4)
    def from(position: StartingPosition): IndexedSeq[KinesisRecord] =
      await(service.getShardIterator(ref("records"), First, position)
        .thenCompose(iterator => service.getRecords(ref("records"), iterator, 100))).records
    val all = from(TrimHorizon)
    assert(all.map(_.sequenceNumber) == numbers.map(_.value).toIndexedSeq)
    assert(all.map(_.partitionKey).distinct == IndexedSeq("ключ"))
    all.map(_.data).zip(payloads).foreach { case (read, put) => assert(read.toSeq == put.toSeq) }
    assert(all.forall(r => math.abs(r.arrivalMillis - System.currentTimeMillis()) < 60000))
    assert(all.forall(_.encryptionType == null))
    assert(from(AtSequenceNumber(numbers(2))).size == 2)
    assert(from(AfterSequenceNumber(numbers(2))).size == 1)
    assert(from(AtTimestamp(all.head.arrivalMillis)).size == 4)
    assert(from(Latest).size == 0)
  }

  test("the last response of a closed shard has no iterator and names the children") {
    emulator.admin.createStream("closed", 1)
    put("closed", Seq("a"))
    emulator.admin.splitShard("closed", First.value)
    val iterator = await(service.getShardIterator(ref("closed"), First, TrimHorizon))
    val page = await(service.getRecords(ref("closed"), iterator, 100))
    assert(page.records.size == 1)
    assert(page.nextIterator == None)
    assert(page.children.map(c => (c.id, c.parents)) == Seq(1L, 2L).map(i => (ShardId.ofIndex(i), Seq(First))))
    assert(page.children.map(_.hashKeyRange).reduce(_ union _) == HashKeyRange.Whole)
  }

  private val refused: Seq[(String, ServiceErrorKind, () => ServiceException)] = Seq(
    (
      "a missing stream",
      ServiceErrorKind.ResourceNotFound,
      () => failure(service.describeStream(ref("none")))
    ),
    (
      "a missing shard",
      ServiceErrorKind.ResourceNotFound,
      () => failure(service.getShardIterator(ref("described"), ShardId.ofIndex(99), TrimHorizon))
    ),
    (
      "an invalid iterator",
      ServiceErrorKind.InvalidArgument,
      () => failure(service.getRecords(ref("described"), "nonsense", 1))
    ),
    (
      "a limit above the maximum",
      ServiceErrorKind.InvalidArgument,
      () => failure(service.getRecords(ref("described"), "nonsense", 10001))
    )
  )
  for ((what, kind, call) <- refused) test(s"$what fails with $kind, the message of the service and a request id") {
    val error = call()
    assert(error.kind == kind)
    assert(error.errorCode.endsWith("Exception") && error.requestId.isDefined, error.getMessage)
  }

  test("without CBOR the same records are decoded from JSON, and records are written in JSON") {
    emulator.admin.createStream("json", 1)
    put("json", Seq("a", "b"))
    System.setProperty("aws.cborEnabled", "false")
    val other =
      try SdkClients.create(settings)
      finally System.clearProperty("aws.cborEnabled")
    try {
      val iterator = await(other.getShardIterator(ref("json"), First, TrimHorizon))
      val page = await(other.getRecords(ref("json"), iterator, 100))
      assert(page.records.map(record => new String(record.data, "UTF-8")) == IndexedSeq("a", "b"))
      assert(page.nextIterator.isDefined && page.records.forall(_.encryptionType == null))
      val written = await(other.putRecords(ref("json"), IndexedSeq(PutEntry("key", None, Array[Byte](1, 2)))))
      assert(written.collect { case PutResult.Accepted(shard, _) => shard } == IndexedSeq(First))
      assert(emulator.admin.records("json").last.data.toSeq == Seq[Byte](1, 2))
    } finally other.close()
  }

  test("a failing call is not retried") {
    val before = emulator.calls.count("DescribeStreamSummary")
    failure(service.describeStream(ref("none")))
    assert(emulator.calls.count("DescribeStreamSummary") - before == 1L)
  }

  test("a closed service fails its calls") {
    val other = SdkClients.create(settings)
    await(other.listStreams(None))
    other.close()
    assert(failure(other.listStreams(None)).kind == ServiceErrorKind.Client)
    assert(failure(other.putRecords(ref("any"), IndexedSeq.empty)).kind == ServiceErrorKind.Client)
  }
}
