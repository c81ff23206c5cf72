package org.sparkkinesis.emulator.engine.error

/** An error answer of the service: HTTP status, error type and message. It has no stack trace. */
final class ServiceError(val status: Int, val errorType: String, message: String)
    extends RuntimeException(message, null, false, false)

/** The errors of the service by name. The messages have the wording of the service where it is known. */
object ServiceError {
  def apply(errorType: String, message: String): ServiceError = new ServiceError(400, errorType, message)

  def resourceNotFound(message: String): ServiceError = apply("ResourceNotFoundException", message)
  def resourceInUse(message: String): ServiceError = apply("ResourceInUseException", message)
  def invalidArgument(message: String): ServiceError = apply("InvalidArgumentException", message)
  def limitExceeded(message: String): ServiceError = apply("LimitExceededException", message)
  def throughputExceeded(message: String): ServiceError = apply("ProvisionedThroughputExceededException", message)
  def expiredIterator(message: String): ServiceError = apply("ExpiredIteratorException", message)
  def expiredNextToken(message: String): ServiceError = apply("ExpiredNextTokenException", message)
  def validation(message: String): ServiceError = apply("ValidationException", message)
  def serialization(message: String): ServiceError = apply("SerializationException", message)
  def unknownOperation(message: String): ServiceError = apply("UnknownOperationException", message)
  def internalFailure(message: String): ServiceError = new ServiceError(500, "InternalFailure", message)
}
