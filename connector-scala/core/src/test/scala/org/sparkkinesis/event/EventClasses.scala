package org.sparkkinesis.event

import java.lang.reflect.Modifier

import scala.jdk.CollectionConverters._

import com.tngtech.archunit.core.importer.ClassFileImporter

/** The classes of all events. */
private[event] object EventClasses {

  /** Returns the simple names of the classes that are not abstract. */
  def names: Set[String] = new ClassFileImporter()
    .importUrl(classOf[ConnectorEvent].getProtectionDomain.getCodeSource.getLocation)
    .asScala
    .filter(_.isAssignableTo(classOf[ConnectorEvent]))
    .map(found => Class.forName(found.getName))
    .filterNot(found => Modifier.isAbstract(found.getModifiers))
    .map(_.getSimpleName)
    .toSet
}
