package org.sparkkinesis.simulation.common

/** Writes data as Scala code that creates equal data. */
object ScalaText {
  def apply(value: Any): String = value match {
    case text: String => "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    case number: Long => s"${number}L"
    case Some(inner) => s"Some(${apply(inner)})"
    case map: Map[_, _] =>
      map.map { case (key, item) => s"${apply(key)} -> ${apply(item)}" }.mkString("Map(", ", ", ")")
    case items: Seq[_] => items.map(apply).mkString("Vector(", ", ", ")")
    case product: Product if product.productArity == 0 => product.productPrefix
    case product: Product => product.productIterator.map(apply).mkString(s"${product.productPrefix}(", ", ", ")")
    case other => other.toString
  }
}
