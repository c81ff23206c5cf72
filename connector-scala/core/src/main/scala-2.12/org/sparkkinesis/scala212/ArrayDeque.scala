package org.sparkkinesis.scala212

import scala.collection.generic.{Growable, Shrinkable}
import scala.collection.mutable

/** A queue that grows and shrinks at both ends, with access by index: what the connector uses of that of Scala 2.13. */
final class ArrayDeque[A] extends mutable.AbstractSeq[A] with mutable.IndexedSeq[A] with Growable[A]
    with Shrinkable[A] {
  private var ring = new Array[AnyRef](16)
  private var first = 0
  private var count = 0

  override def length: Int = count

  override def apply(index: Int): A = ring(place(index)).asInstanceOf[A]

  override def update(index: Int, element: A): Unit = ring(place(index)) = element.asInstanceOf[AnyRef]

  override def +=(element: A): this.type = {
    ensureRoom()
    count += 1
    update(count - 1, element)
    this
  }

  def append(element: A): this.type = this += element

  def addAll(elements: TraversableOnce[A]): this.type = this ++= elements

  def prepend(element: A): this.type = {
    ensureRoom()
    first = if (first == 0) ring.length - 1 else first - 1
    count += 1
    update(0, element)
    this
  }

  def removeHead(): A = {
    val element = apply(0)
    ring(first) = null
    first = (first + 1) % ring.length
    count -= 1
    element
  }

  def removeLast(): A = {
    val element = apply(count - 1)
    ring(place(count - 1)) = null
    count -= 1
    element
  }

  def removeHeadWhile(isRemoved: A => Boolean): mutable.Seq[A] = {
    val removed = mutable.ArrayBuffer.empty[A]
    while (nonEmpty && isRemoved(head)) removed += removeHead()
    removed
  }

  override def -=(element: A): this.type = {
    val kept = filterNot(_ == element)
    clear()
    this ++= kept
  }

  override def clear(): Unit = {
    ring = new Array[AnyRef](16)
    first = 0
    count = 0
  }

  private def place(index: Int): Int = {
    if (index < 0 || index >= count) throw new IndexOutOfBoundsException(s"$index is not below $count")
    (first + index) % ring.length
  }

  private def ensureRoom(): Unit = if (count == ring.length) {
    val larger = new Array[AnyRef](count * 2)
    for (index <- 0 until count) larger(index) = ring((first + index) % ring.length)
    ring = larger
    first = 0
  }
}

object ArrayDeque {
  def empty[A]: ArrayDeque[A] = new ArrayDeque[A]
}
