package org.sparkkinesis.chaos.logical

import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.{Files, Path}

import scala.collection.immutable.VectorMap

import org.sparkkinesis.json.Json

/**
 * The metadata document of one logical stream, in a file that is replaced at once. For one thread.
 *
 * @param arns
 *   the ARNs of all physical streams by name
 */
final private[logical] class StreamsDocument(folder: Path, arns: VectorMap[String, String]) {
  import StreamsDocument._

  private val file = folder.resolve("streams.json")
  private var states = arns.map { case (name, _) => name -> Option("active") }
  private var current = 0L

  val service: String = s"file:$file"

  /** The version of the last document. */
  def version: Long = current

  /**
   * Replaces the document by one in which the stream has another state.
   *
   * @param state
   *   empty for a document without the stream
   */
  def set(stream: String, state: Option[String]): Unit = {
    states = states.updated(stream, state)
    publish()
  }

  def publish(): Unit = {
    current += 1
    write(text(current))
  }

  /** Replaces the document by one that must be refused, until the next [[publish]]. */
  def damage(how: Damage): Unit = {
    current += 1
    write(how match {
      case Damage.Empty => ""
      case Damage.Cut => text(current).dropRight(20)
      case Damage.Older => text(0)
      case Damage.WithoutStreams => s"""{"version": $current, "streams": {"$Id": []}}"""
    })
  }

  private def text(version: Long): String = {
    val streams = states.toVector.collect { case (name, Some(state)) =>
      Json.obj("arn" -> Json.Str(arns(name)), "state" -> Json.Str(state))
    }
    Json.render(Json.obj("version" -> Json.num(version), "streams" -> Json.obj(Id -> Json.Arr(streams))))
  }

  private def write(text: String): Unit = {
    Files.move(Files.writeString(folder.resolve("next.json"), text), file, ATOMIC_MOVE, REPLACE_EXISTING)
    ()
  }
}

private[logical] object StreamsDocument {
  val Id = "numbers"
}

/** A document that must not change the streams of a query. */
sealed abstract private[logical] class Damage

private[logical] object Damage {
  case object Empty extends Damage
  case object Cut extends Damage
  case object Older extends Damage
  case object WithoutStreams extends Damage

  val All: Vector[Damage] = Vector(Empty, Cut, Older, WithoutStreams)
}
