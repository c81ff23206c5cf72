package org.sparkkinesis.spark.connection

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, ObjectStreamClass}

/** Reads what tasks send, as Spark does on a driver whose application has no classes of the connector. */
object ApplicationLoader {

  /** @throws ClassNotFoundException if the value has an object of the connector */
  def received(value: AnyRef): AnyRef = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)) {
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        if (description.getName.contains("sparkkinesis")) throw new ClassNotFoundException(description.getName)
        else super.resolveClass(description)
    }.readObject()
  }
}
