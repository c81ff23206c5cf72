package org.sparkkinesis

import java.util.Optional

import scala.collection.compat._
import scala.collection.compat.immutable.ArraySeq
import scala.collection.immutable.SortedMap
import scala.collection.Searching.SearchResult
import scala.collection.{mutable, GenTraversableOnce, Searching}
import scala.language.implicitConversions
import scala.reflect.ClassTag
import scala.util.matching.Regex

/**
 * What Scala's library has in 2.13, and neither in 2.12 nor in scala-collection-compat. The build for 2.12 imports it
 * in each source file.
 */
package object scala212 {

  object OptionConverters {
    implicit final class OptionalToScala[T](private val optional: Optional[T]) extends AnyVal {
      def toScala: Option[T] = if (optional.isPresent) Some(optional.get) else None
    }

    implicit final class ScalaToOptional[T](private val option: Option[T]) extends AnyVal {
      def toJava: Optional[T] = option.fold(Optional.empty[T]())(Optional.of(_))
    }
  }

  /** `Iterator.empty[A]` in 2.13. */
  def emptyIterator[A]: Iterator[A] = Iterator.empty

  /** `Array.copyOf` in 2.13. */
  def arrayCopyOf[A: ClassTag](elements: Array[A], length: Int): Array[A] = {
    val copy = new Array[A](length)
    System.arraycopy(elements, 0, copy, 0, math.min(elements.length, length))
    copy
  }

  /** `to(SortedMap)` in 2.13. The type of its result cannot be inferred in 2.12. */
  implicit final class ToSortedMap[K, V](private val entries: GenTraversableOnce[(K, V)]) extends AnyVal {
    def toSortedMap(implicit order: Ordering[K]): SortedMap[K, V] = {
      val builder = SortedMap.newBuilder[K, V]
      entries.foreach(builder += _)
      builder.result()
    }
  }

  implicit final class OptionOf213[A](private val option: Option[A]) extends AnyVal {
    def zip[B](other: Option[B]): Option[(A, B)] = for (a <- option; b <- other) yield (a, b)
  }

  implicit final class RegexOf213(private val regex: Regex) extends AnyVal {
    def matches(text: CharSequence): Boolean = regex.pattern.matcher(text).matches()
  }

  implicit final class IteratorOf213[A](private val iterator: Iterator[A]) extends AnyVal {
    def distinct: Iterator[A] = distinctBy(identity)

    def distinctBy[B](key: A => B): Iterator[A] = {
      val seen = mutable.HashSet.empty[B]
      iterator.filter(element => seen.add(key(element)))
    }
  }

  implicit final class SeqOf213[A](private val elements: scala.collection.Seq[A]) extends AnyVal {
    /** A binary search of sorted elements. */
    def search[B >: A](element: B)(implicit order: Ordering[B]): SearchResult =
      new Searching.SearchImpl(elements).search(element)

    def findLast(isWanted: A => Boolean): Option[A] = elements.reverseIterator.find(isWanted)
  }

  implicit final class MutableMapOf213[K, V](private val map: mutable.Map[K, V]) extends AnyVal {
    def filterInPlace(isKept: (K, V) => Boolean): Unit = map.retain(isKept): Unit
  }

  implicit final class MapOf213[K, V](private val map: Map[K, V]) extends AnyVal {
    def removed(key: K): Map[K, V] = map - key
    def removedAll(keys: TraversableOnce[K]): Map[K, V] = map -- keys
  }

  implicit final class ArrayOf213[A](private val array: Array[A]) extends AnyVal {
    def maxOption(implicit order: Ordering[A]): Option[A] = if (array.isEmpty) None else Some(array.max)
    def minOption(implicit order: Ordering[A]): Option[A] = if (array.isEmpty) None else Some(array.min)
  }

  implicit final class LinkedHashMapOf213(private val factory: mutable.LinkedHashMap.type) extends AnyVal {
    def from[K, V](entries: TraversableOnce[(K, V)]): mutable.LinkedHashMap[K, V] =
      mutable.LinkedHashMap.empty[K, V] ++= entries
  }

  implicit final class PriorityQueueOf213(private val factory: mutable.PriorityQueue.type) extends AnyVal {
    def from[A](elements: TraversableOnce[A])(order: Ordering[A]): mutable.PriorityQueue[A] =
      new mutable.PriorityQueue[A]()(order) ++= elements
  }

  implicit final class ArraySeqOf213(private val factory: ArraySeq.type) extends AnyVal {
    def untagged: Vector.type = Vector
  }
}
