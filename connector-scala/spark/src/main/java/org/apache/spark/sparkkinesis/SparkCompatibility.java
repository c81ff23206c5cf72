package org.apache.spark.sparkkinesis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * Compares the Spark that runs with the line of Spark that this jar is made for. Like all classes that Spark creates by
 * their names in service files, it is written in Java and links with each version of Spark and Scala.
 */
public final class SparkCompatibility {
  private static final Properties LINE =
      load(SparkCompatibility.class.getClassLoader(), "org/sparkkinesis/line.properties");

  private SparkCompatibility() {}

  /** Returns whether this jar is made for the Spark that runs. */
  public static boolean fits() {
    return fits(sparkVersion(), scalaVersion());
  }

  static boolean fits(String spark, String scala) {
    return scala.startsWith(LINE.getProperty("scala") + ".") && spark.startsWith(LINE.getProperty("spark") + ".");
  }

  /**
   * Does nothing if this jar is made for the Spark that runs.
   *
   * @throws JarOfOtherSparkException otherwise
   */
  public static void ensureFits() {
    if (!fits()) throw failure(sparkVersion(), scalaVersion());
  }

  static JarOfOtherSparkException failure(String spark, String scala) {
    String line = spark.startsWith("3.5.") ? "-3.5" : "";
    String wanted = "spark-kinesis" + line + "_" + scala.substring(0, scala.lastIndexOf('.'));
    return new JarOfOtherSparkException(
        LINE.getProperty("artifact") + " " + LINE.getProperty("version"),
        "Spark " + LINE.getProperty("spark") + " with Scala " + LINE.getProperty("scala"),
        "Spark " + spark + " with Scala " + scala,
        wanted);
  }

  private static String sparkVersion() {
    // A JAR of Spark has the file. Its Scala classes have other shapes in other versions.
    ClassLoader spark = org.apache.spark.sql.sources.DataSourceRegister.class.getClassLoader();
    return load(spark, "spark-version-info.properties").getProperty("version");
  }

  private static String scalaVersion() {
    return scala.util.Properties.versionNumberString();
  }

  private static Properties load(ClassLoader loader, String name) {
    Properties read = new Properties();
    try (InputStream file = loader.getResourceAsStream(name)) {
      if (file == null) throw new IllegalStateException("the class path has no file " + name);
      read.load(file);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return read;
  }
}
