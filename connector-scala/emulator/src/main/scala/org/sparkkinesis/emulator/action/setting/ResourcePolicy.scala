package org.sparkkinesis.emulator.action.setting

import org.sparkkinesis.emulator.access.PolicyDocument
import org.sparkkinesis.emulator.action.call.{Action, Answer, Call, Patterns, Validator}
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.StreamRef

/** PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy store the policy of a stream, which calls follow. */
sealed abstract class ResourcePolicy extends Action {
  protected def validateMore(validator: Validator): Unit = ()
  protected def onStream(call: Call, stream: DataStream): Answer

  override def run(call: Call): Answer = {
    val validator = new Validator(call.fields)
    val arn = validator.requiredString("ResourceARN", Patterns.ResourceArn, Patterns.MaxArn)
    validator.streamId()
    validateMore(validator)
    validator.check()
    val ref = StreamRef.parse(arn.get).getOrElse(throw ServiceError.invalidArgument(s"${arn.get} is not a stream ARN."))
    val stream = call.namespace.stream(ref)
    call.streamName = stream.name
    call.admit()
    onStream(call, stream)
  }
}

object PutResourcePolicy extends ResourcePolicy {
  val name = "PutResourcePolicy"

  override protected def validateMore(validator: Validator): Unit = validator.present("Policy")

  override protected def onStream(call: Call, stream: DataStream): Answer = {
    val policy = call.fields.string("Policy")
    try policy.foreach(PolicyDocument.parse)
    catch { case invalid: IllegalArgumentException => throw ServiceError.invalidArgument(invalid.getMessage) }
    stream.update(_.copy(policy = policy))
    Answer.Empty
  }
}

object GetResourcePolicy extends ResourcePolicy {
  val name = "GetResourcePolicy"

  override protected def onStream(call: Call, stream: DataStream): Answer =
    Answer.body(reply => reply.obj(reply.field("Policy", stream.settings.policy.getOrElse("{}"))))
}

object DeleteResourcePolicy extends ResourcePolicy {
  val name = "DeleteResourcePolicy"

  override protected def onStream(call: Call, stream: DataStream): Answer = {
    if (stream.settings.policy.isEmpty)
      throw ServiceError.resourceNotFound(s"Stream ${stream.name} under account ${stream.account} has no policy.")
    stream.update(_.copy(policy = None))
    Answer.Empty
  }
}
