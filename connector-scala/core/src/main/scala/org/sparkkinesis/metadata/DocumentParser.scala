package org.sparkkinesis.metadata

import java.nio.ByteBuffer
import java.nio.charset.{CharacterCodingException, StandardCharsets}
import java.util.Locale

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.{OptionType, PositionOption}
import org.sparkkinesis.config.{ConnectionOptions, ReadOptions}
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.{KinesisQuotas, StreamRef}

/**
 * Parses metadata documents. Pure.
 *
 * A document is accepted as a whole or not at all. Unknown members are ignored, so that documents may gain members. A
 * member that looks like a credential is refused.
 */
object DocumentParser {

  /** Maximum size of a document in bytes: that of about 50,000 streams. It bounds the memory that parsing takes. */
  val MaxBytes: Int = 8 * KinesisQuotas.MiB

  private type Parsed[A] = Either[String, A]

  /** Words that the name of a member with a credential contains. */
  private val SecretWords = Seq("secret", "token", "password", "accesskey", "credential")

  /** Returns the document, or why it is refused. */
  def parse(bytes: Array[Byte]): Parsed[MetadataDocument] =
    for {
      _ <-
        Either.cond(bytes.length <= MaxBytes, (), s"it has ${bytes.length} bytes, and at most $MaxBytes are accepted")
      text <- decode(bytes)
      json <- Json.parse(text).left.map(why => s"it is not JSON: $why")
      document <- recorded(json)
      _ <- refuseCycle(document.physical.values.toSeq)
    } yield document

  /**
   * Returns a document that the connector has written itself, or why it is refused. It may be longer than documents of
   * a service, and its streams may wait for each other, because it may have streams of several documents.
   */
  def recorded(json: Json): Parsed[MetadataDocument] = json match {
    case Json.Obj(fields) =>
      for {
        _ <- refuseSecrets(fields.keys)
        version <- fields.get("version").flatMap(_.asLong).filter(_ >= 0)
          .toRight("'version' is not a whole number of at least 0")
        streams <- fields.get("streams") match {
          case Some(Json.Obj(ids)) => all(ids.toVector) { case (id, list) => streamsOf(id, list).map(id -> _) }
          case _ => Left("'streams' is not an object")
        }
        _ <- refuseTwice(streams.flatMap { case (id, list) => list.map(id -> _) })
      } yield MetadataDocument(version, streams.to(SortedMap))
    case _ => Left("it is not an object")
  }

  private def decode(bytes: Array[Byte]): Parsed[String] =
    try Right(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString)
    catch { case _: CharacterCodingException => Left("it is not UTF-8 text") }

  private def streamsOf(id: String, json: Json): Parsed[Vector[PhysicalStream]] = json match {
    case _ if id.trim.isEmpty => Left("a logical stream has an empty id")
    case Json.Arr(items) => all(items)(physical).left.map(why => s"of '$id', $why")
    case _ => Left(s"'$id' is not an array of streams")
  }

  private def physical(json: Json): Parsed[PhysicalStream] = json match {
    case Json.Obj(fields) =>
      val members = fields.filter(_._2 != Json.Null)
      def text(name: String): Parsed[Option[String]] = optional(members.get(name))(value =>
        value.asString.filter(_.nonEmpty).toRight(s"'$name' is not a string")
      )
      def number(name: String, range: Range): Parsed[Option[Int]] = optional(members.get(name))(value =>
        value.asLong.filter(n => n >= range.start && n <= range.last).map(_.toInt)
          .toRight(s"'$name' is not a whole number from ${range.start} to ${range.last}")
      )
      def option(name: String, kind: OptionType[String]): Parsed[Option[String]] =
        text(name).flatMap(optional(_)(value => kind.parse(value).left.map(why => s"'$name': $why")))
      for {
        _ <- refuseSecrets(fields.keys)
        arn <- text("arn").flatMap(_.toRight("a stream has no 'arn'")).flatMap(arnOf)
        within = (why: String) => s"stream $arn: $why"
        region <- text("region").left.map(within)
        _ <- Either.cond(region.forall(_ == arn.region), (), within("'region' is not the region of the ARN"))
        state <- text("state").flatMap(optional(_)(state)).left.map(within)
        endpoint <- option("endpoint", ConnectionOptions.endpoint.kind).left.map(within)
        role <- option("role", ConnectionOptions.role).left.map(within)
        externalId <- text("externalId").left.map(within)
        consumer <- option("consumerArn", ReadOptions.consumerARN.kind).left.map(within)
        _ <- Either.cond(
          consumer.forall(_.startsWith(s"${arn.value}/")),
          (),
          within("'consumerArn' is the ARN of a consumer of another stream")
        )
        weight <- number("weight", Weights).left.map(within)
        priority <- number("priority", Priorities).left.map(within)
        startAt <- optional(members.get("startAt"))(position).left.map(within)
        after <- optional(members.get("after"))(arns).left.map(within)
      } yield PhysicalStream(
        arn,
        state.getOrElse(StreamState.Active),
        endpoint,
        role,
        externalId,
        consumer,
        weight.getOrElse(PhysicalStream.Weight),
        priority.getOrElse(0),
        startAt,
        after.getOrElse(Set.empty)
      )
    case _ => Left("a stream is not an object")
  }

  private val Weights = 0 to 1000000
  private val Priorities = -1000000 to 1000000

  private def state(word: String): Parsed[StreamState] = StreamState.all.find(_.word == word)
    .toRight(s"'state' is '$word', which is not one of ${StreamState.all.map(_.word).mkString(", ")}")

  private def position(json: Json): Parsed[PositionOption] =
    PositionOption.parse(json.asString.getOrElse(Json.render(json))).left.map(why => s"'startAt': $why")

  private def arns(json: Json): Parsed[Set[String]] = json match {
    case Json.Arr(items) =>
      all(items)(item => item.asString.toRight("'after' has an item that is no string").flatMap(arnOf(_).map(_.value)))
        .map(_.toSet)
    case _ => Left("'after' is not an array of ARNs")
  }

  private def arnOf(text: String): Parsed[StreamRef.ByArn] = StreamRef.parse(text) match {
    case Some(arn: StreamRef.ByArn) => Right(arn)
    case _ => Left(s"'${text.take(200)}' is not the ARN of a stream")
  }

  private def refuseSecrets(names: Iterable[String]): Parsed[Unit] = names.find { name =>
    val plain = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "")
    SecretWords.exists(plain.contains)
  }.fold[Parsed[Unit]](Right(()))(name => Left(s"it has a member '${name.take(80)}', and credentials are not accepted"))

  private def refuseTwice(streams: Seq[(String, PhysicalStream)]): Parsed[Unit] =
    streams.groupBy(_._2.arn).values.find(_.size > 1).fold[Parsed[Unit]](Right(())) { same =>
      Left(s"stream ${same.head._2.arn} is listed twice, under ${same.map(one => s"'${one._1}'").mkString(" and ")}")
    }

  /** Refuses streams that wait for each other, because none of them would ever be read. */
  private def refuseCycle(streams: Seq[PhysicalStream]): Parsed[Unit] = {
    @scala.annotation.tailrec
    def withoutOrder(left: Seq[PhysicalStream]): Seq[PhysicalStream] = {
      val names = left.iterator.map(_.arn).toSet
      val waiting = left.filter(_.after.exists(names))
      if (waiting.size == left.size) waiting else withoutOrder(waiting)
    }
    withoutOrder(streams).headOption.fold[Parsed[Unit]](Right(()))(one =>
      Left(s"stream ${one.arn} waits for itself through 'after'")
    )
  }

  private def optional[A, B](value: Option[A])(read: A => Parsed[B]): Parsed[Option[B]] =
    value.fold[Parsed[Option[B]]](Right(None))(read(_).map(Some(_)))

  private def all[A, B](items: Vector[A])(read: A => Parsed[B]): Parsed[Vector[B]] =
    items.foldLeft[Parsed[Vector[B]]](Right(Vector.empty))((done, item) =>
      done.flatMap(list => read(item).map(list :+ _))
    )
}
