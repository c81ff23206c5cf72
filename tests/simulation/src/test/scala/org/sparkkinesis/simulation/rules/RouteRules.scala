package org.sparkkinesis.simulation.rules

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream}
import org.sparkkinesis.simulation.model.ModelKinesis
import org.sparkkinesis.simulation.write.route.RouteVerdict

/** Products that break the rules of writing to a logical stream: histories of routes made by hand. */
object RouteRules {
  private val pinned =
    "A micro-batch has the routes of one document that the service gave, and none of their streams " +
      "was retired before"

  private def document(version: Long, streams: String*): MetadataDocument = MetadataDocument(
    version,
    SortedMap("orders" -> streams.flatMap(name =>
      PhysicalStream.ofArn(ModelKinesis.arn(ModelKinesis.Account, name))
    ).toVector)
  )

  val all: Seq[BrokenProduct] = Seq(
    BrokenProduct(pinned, "a micro-batch has routes that the service never gave", "route")(
      new RouteVerdict().pinned(1, document(1, "a"))
    ),
    BrokenProduct(pinned, "a micro-batch has routes of an older document", "retired") {
      val verdict = new RouteVerdict
      Seq(document(1, "a"), document(2, "b")).foreach(verdict.answered)
      verdict.pinned(1, document(1, "a"))
    },
    BrokenProduct(
      "A micro-batch that runs again has the same routes, unless one of their streams is retired",
      "a micro-batch that runs again has the newest routes",
      "rerun"
    ) {
      val verdict = new RouteVerdict
      Seq(document(1, "a"), document(2, "a", "b")).foreach { next =>
        verdict.answered(next)
        verdict.pinned(1, next)
      }
    }
  )
}
