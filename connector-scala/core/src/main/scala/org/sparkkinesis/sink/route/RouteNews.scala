package org.sparkkinesis.sink.route

/**
 * Newer routes of one write, for its tasks in one process. A task asks for them only while a stream of it is in
 * trouble, because a write otherwise keeps its routes from its beginning to its end. Thread-safe, and never blocks.
 */
trait RouteNews {

  /** The newest routes that a task of this process has asked for. The same object until there are newer ones. */
  def routes: Option[Routes]

  /** Asks for newer routes, unless that was done a moment ago. */
  def wanted(): Unit
}

object RouteNews {

  /** A write that has no newer routes than its own. */
  val None: RouteNews = new RouteNews {
    override def routes: Option[Routes] = scala.None
    override def wanted(): Unit = ()
  }
}
