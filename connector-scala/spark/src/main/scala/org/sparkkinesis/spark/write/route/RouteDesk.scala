package org.sparkkinesis.spark.write.route

import java.util.UUID
import java.util.concurrent.CompletableFuture

import scala.util.Try

import org.apache.spark.sparkkinesis.ClusterRpc

import org.sparkkinesis.config.Options
import org.sparkkinesis.metadata.{AllowList, DocumentText, MetadataDocument}
import org.sparkkinesis.sink.route.Routes
import org.sparkkinesis.spark.connection.{Connection, Environment}
import org.sparkkinesis.spark.protocol.{NewerRoutes, ProtocolCodec}

/**
 * Answers executors that have a stream in trouble and ask for newer routes, on a thread of its own. On the driver; the
 * owner of the book closes it.
 */
final private[route] class RouteDesk(options: Options, book: RouteBook, environment: Environment)
    extends AutoCloseable {
  private val allowed = AllowList.of(options)
  private val name = s"kinesis-routes-${UUID.randomUUID()}"
  private val scheduler = environment.scheduler("kinesis-routes", 1)
  private val endpoint = ClusterRpc.openAnswering(name)(answer)

  /** Where the tasks of a write ask that uses this document. */
  def address(epoch: Option[Long], document: MetadataDocument): RouteDesk.Address =
    RouteDesk.Address(name, epoch, book.revisionOf(document))

  override def close(): Unit =
    try endpoint.close()
    finally scheduler.close()

  private def answer(message: Array[Byte]): CompletableFuture[Array[Byte]] = {
    val answered = new CompletableFuture[Array[Byte]]
    scheduler.execute { () =>
      Try(ProtocolCodec.encode(newer(message))).fold(answered.completeExceptionally(_), answered.complete)
      ()
    }
    answered
  }

  private def newer(message: Array[Byte]): Option[NewerRoutes] = {
    val wanted = ProtocolCodec.decodeRoutesWanted(message)
    book.newer(wanted.epoch, wanted.revision).map { case (revision, document) =>
      val streams = Routes.of(document).all.toSeq
      NewerRoutes(
        revision,
        DocumentText.render(document),
        streams.map(stream => stream.arn -> Connection.of(options, stream, None)),
        streams.filter(allowed.mustBeOwn).map(_.arn)
      )
    }
  }
}

private[sparkkinesis] object RouteDesk {

  /**
   * Where the tasks of a write ask for newer routes.
   *
   * @param revision
   *   the revision of the routes of the write
   */
  final case class Address(name: String, epoch: Option[Long], revision: Long)
}
