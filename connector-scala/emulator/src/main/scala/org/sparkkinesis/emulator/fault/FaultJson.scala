package org.sparkkinesis.emulator.fault

import org.sparkkinesis.emulator.document.Fields

/**
 * Reads fault rules that other processes send: one JSON object with the members of [[FaultRule]] and the name of the
 * `effect`.
 */
object FaultJson {

  /**
   * Reads one rule.
   *
   * @throws IllegalArgumentException
   *   if a member is missing or wrong; the message names it
   */
  def read(fields: Fields): FaultRule = FaultRule(
    effect(fields),
    operation = fields.string("operation").getOrElse(""),
    stream = fields.string("stream").getOrElse(""),
    shard = fields.string("shard").getOrElse(""),
    probability = number(fields, "probability").getOrElse(1.0),
    skip = fields.int("skip").getOrElse(0),
    count = fields.int("count").getOrElse(Int.MaxValue),
    forMillis = fields.long("forMillis").getOrElse(0L),
    partitionKey = fields.string("partitionKey").map(_.r),
    account = fields.string("account").getOrElse(""),
    region = fields.string("region").getOrElse("")
  )

  private def effect(fields: Fields): FaultEffect = fields.string("effect").getOrElse("") match {
    case "error" => error(fields)
    case "throttle" =>
      FaultEffect.Error(
        400,
        "ProvisionedThroughputExceededException",
        message(fields, "Rate exceeded for shard, by a fault rule.")
      )
    case "delay" => FaultEffect.Delay(millis(fields))
    case "lateAnswer" => FaultEffect.LateAnswer(millis(fields))
    case "lostAnswer" => FaultEffect.LostAnswer(error(fields))
    case "silence" => FaultEffect.Silence
    case "cut" => FaultEffect.Cut(fields.boolean("done").getOrElse(false))
    case "resetStream" => FaultEffect.ResetStream
    case "goAway" => FaultEffect.GoAway
    case "failEntries" => FaultEffect.FailEntries(errorType(fields), message(fields, "Failed by a fault rule."))
    case "leaveOut" => FaultEffect.LeaveOut
    case "endAfter" => FaultEffect.EndAfter(fields.int("events").getOrElse(0))
    case "failAfter" => FaultEffect.FailAfter(fields.int("events").getOrElse(0), error(fields))
    case "mute" => FaultEffect.Mute
    case "duplicateEvents" => FaultEffect.DuplicateEvents
    case "resetAfter" => FaultEffect.ResetAfter(fields.int("events").getOrElse(0))
    case "emptyDocument" => FaultEffect.EmptyDocument
    case "olderDocument" => FaultEffect.OlderDocument
    case "truncatedDocument" => FaultEffect.TruncatedDocument
    case "redirect" => FaultEffect.Redirect(fields.string("location").getOrElse(throw missing(fields, "location")))
    case other =>
      throw new IllegalArgumentException(
        s"No fault effect '$other'. The effects are error, throttle, delay, lateAnswer, lostAnswer, silence, cut, " +
          "resetStream, goAway, failEntries, leaveOut, endAfter, failAfter, mute, duplicateEvents, resetAfter, " +
          "emptyDocument, olderDocument, truncatedDocument and redirect."
      )
  }

  private def errorType(fields: Fields): String = fields.string("errorType").getOrElse("InternalFailure")

  private def message(fields: Fields, otherwise: String): String = fields.string("message").getOrElse(otherwise)

  private def error(fields: Fields): FaultEffect.Error = {
    val kind = errorType(fields)
    val status = fields.int("status").getOrElse(kind match {
      case "InternalFailure" => 500
      case "ServiceUnavailable" => 503
      case _ => 400
    })
    FaultEffect.Error(status, kind, message(fields, s"$kind by a fault rule."))
  }

  private def millis(fields: Fields): Long = fields
    .long("millis")
    .getOrElse(throw missing(fields, "millis"))

  private def missing(fields: Fields, member: String): IllegalArgumentException = new IllegalArgumentException(
    s"The effect ${fields.string("effect").getOrElse("")} needs the member $member."
  )

  private def number(fields: Fields, name: String): Option[Double] = fields.get(name) match {
    case n: java.lang.Number => Some(n.doubleValue)
    case null => None
    case other => throw new IllegalArgumentException(s"$name must be a number, but was $other.")
  }
}
