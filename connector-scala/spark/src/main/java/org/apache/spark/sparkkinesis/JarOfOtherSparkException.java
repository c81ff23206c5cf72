package org.apache.spark.sparkkinesis;

import java.util.Map;
import java.util.TreeMap;

import org.apache.spark.SparkThrowable;

/** The connector's jar is made for another line of Spark than the one that runs. */
public final class JarOfOtherSparkException extends UnsupportedOperationException implements SparkThrowable {
  private static final long serialVersionUID = 1L;
  static final String CONDITION = "KINESIS_JAR_OF_OTHER_SPARK";
  private final String jar;
  private final String made;
  private final String running;
  private final String wanted;

  JarOfOtherSparkException(String jar, String made, String running, String wanted) {
    super(
        "[" + CONDITION + "] The jar " + jar + " of the Kinesis connector is made for " + made
            + ", and this is " + running + "."
            + " Cause: Classes of one line of Spark cannot be linked with another one."
            + " Fix: Use the artifact " + wanted + " of the same version;"
            + " the Python package selects it by the Spark beside it.");
    this.jar = jar;
    this.made = made;
    this.running = running;
    this.wanted = wanted;
  }

  /** The name of the condition in Spark 4. */
  public String getCondition() {
    return CONDITION;
  }

  /** The name of the condition in Spark 3.5. */
  @SuppressWarnings("deprecation") // Spark 4 has another name for it.
  public String getErrorClass() {
    return CONDITION;
  }

  @Override
  public String getSqlState() {
    return "KD000";
  }

  @Override
  public Map<String, String> getMessageParameters() {
    Map<String, String> parameters = new TreeMap<>();
    parameters.put("jar", jar);
    parameters.put("made", made);
    parameters.put("running", running);
    parameters.put("wanted", wanted);
    return parameters;
  }
}
