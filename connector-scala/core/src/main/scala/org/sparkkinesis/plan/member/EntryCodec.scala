package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.json.Json
import org.sparkkinesis.metadata.{DocumentParser, DocumentText, MetadataDocument}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset, StreamOffset}

/** Encodes and decodes entries of the metadata log as JSON. */
object EntryCodec {
  private val Version = 1L

  def encode(entry: MetadataEntry): String = {
    val former = Option.when(entry.former.streams.nonEmpty)("former" -> DocumentText.json(entry.former))
    val absent = Option.when(entry.absent.nonEmpty)(
      "absent" -> Json.obj(entry.absent.toSeq.map { case (arn, since) => arn -> Json.num(since) }: _*)
    )
    Json.render(Json.obj(fields(entry) ++ former ++ absent: _*))
  }

  private def fields(entry: MetadataEntry): Seq[(String, Json)] =
    Seq(
      "v" -> Json.num(Version),
      "n" -> Json.num(entry.number),
      "at" -> Json.num(entry.atMillis),
      "document" -> DocumentText.json(entry.document),
      "streams" -> Json.obj(entry.wishes.toSeq.map { case (arn, wish) => arn -> Json.Str(text(wish)) }: _*),
      "joins" -> Json.Str(OffsetCodec.encode(SourceOffset(entry.joins)))
    )

  /** Returns the entry, or the reason why the text is not an entry. */
  def decode(text: String): Either[String, MetadataEntry] =
    for {
      json <- Json.parse(text)
      _ <- json.field("v").flatMap(_.asLong).filter(_ == Version).toRight("it has no version that can be read")
      number <- json.field("n").flatMap(_.asLong).toRight("it has no number")
      at <- json.field("at").flatMap(_.asLong).toRight("it has no time")
      document <- json.field("document").toRight("it has no document").flatMap(DocumentParser.recorded)
      former <- json.field("former")
        .fold[Either[String, MetadataDocument]](Right(MetadataEntry.NoStreams))(DocumentParser.recorded)
      wishes <- json.field("streams").toRight("it has no streams").flatMap(ofEach(_)(wish))
      joins <- json.field("joins").flatMap(_.asString).toRight("it has no positions").flatMap(positions)
      absent <-
        json.field("absent").fold[Either[String, SortedMap[String, Long]]](Right(SortedMap.empty[String, Long]))(
          ofEach(_)(_.asLong.toRight("the time since when it lacks a stream is not a number"))
        )
    } yield MetadataEntry(number, at, document, wishes, joins, former, absent)

  private def ofEach[A](json: Json)(value: Json => Either[String, A]): Either[String, SortedMap[String, A]] =
    json match {
      case Json.Obj(fields) =>
        fields.foldLeft[Either[String, SortedMap[String, A]]](Right(SortedMap.empty[String, A])) {
          case (done, (arn, one)) => done.flatMap(map => value(one).map(read => map + (arn -> read)))
        }
      case _ => Left("its streams are not an object")
    }

  private def positions(text: String): Either[String, SortedMap[String, StreamOffset]] =
    OffsetCodec.read(text).map(_.streams)

  private def text(wish: StreamWish): String = wish match {
    case StreamWish.Read => "read"
    case StreamWish.Drain(since) => s"drain $since"
    case StreamWish.Park(since) => s"park $since"
  }

  private val Since = "(drain|park) ([0-9]{1,18})".r

  private def wish(json: Json): Either[String, StreamWish] = json.asString match {
    case Some("read") => Right(StreamWish.Read)
    case Some(Since("drain", since)) => Right(StreamWish.Drain(since.toLong))
    case Some(Since("park", since)) => Right(StreamWish.Park(since.toLong))
    case other => Left(s"'${other.getOrElse("")}' does not say what happens to a stream")
  }
}
