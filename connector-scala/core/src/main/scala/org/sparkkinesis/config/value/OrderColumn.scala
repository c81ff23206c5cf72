package org.sparkkinesis.config.value

/** A column by which rows are sorted. */
final case class OrderColumn(name: String, ascending: Boolean) {
  override def toString: String = if (ascending) name else s"$name desc"
}

object OrderColumn {
  private val Form = "(?i)(.+?)(?:\\s+(asc|desc))?".r

  val optionType: OptionType.Parsed[Seq[OrderColumn]] = OptionType.Parsed[Seq[OrderColumn]](
    "names of columns, separated by commas, each with asc or desc after it if needed",
    _.mkString(", "),
    "str | Sequence[str]"
  ) { text =>
    val columns = text.split(",", -1).map(_.trim).toSeq.map {
      case Form(name, direction) => Some(OrderColumn(name, !"desc".equalsIgnoreCase(direction)))
      case _ => None
    }
    if (columns.forall(_.isDefined)) Right(columns.flatten) else Left("It has an empty name.")
  }
}
