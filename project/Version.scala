import sbt._

/** Reads the version from the Python package, so that jar and wheel never differ. */
object Version {
  private val Line = "(?m)^__version__ = \"([^\"]+)\"$".r

  def read(file: File): String = Line
    .findFirstMatchIn(IO.read(file))
    .map(_.group(1))
    .getOrElse(sys.error(s"$file holds no line of the form: __version__ = 'x.y.z' (in double quotes)"))
}
