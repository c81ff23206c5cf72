package org.sparkkinesis.architecture

import scala.jdk.CollectionConverters._

import com.tngtech.archunit.base.DescribedPredicate
import com.tngtech.archunit.base.DescribedPredicate.not
import com.tngtech.archunit.core.domain.JavaClass.Predicates.{resideInAPackage, resideInAnyPackage}
import com.tngtech.archunit.core.domain.{JavaClass, JavaClasses, PackageMatcher}
import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition
import com.tngtech.archunit.library.dependencies.{SliceAssignment, SliceIdentifier, SlicesRuleDefinition}

/**
 * Rules for the packages of one module, checked on its compiled main classes. Each check throws an `AssertionError`
 * that lists every violation with its class and line.
 *
 * The classes are those of the directory or jar that contains `member`, so tests and other modules are excluded.
 * Dependencies are those of the byte code: closures, companions and anonymous classes count for their package. Unused
 * imports and types that only the compiler uses are not visible there.
 *
 * @param member
 *   any class of the module's main sources
 */
final class ModuleArchitecture(member: Class[_]) {
  private val classes: JavaClasses =
    new ClassFileImporter().importUrl(member.getProtectionDomain.getCodeSource.getLocation)

  /** Names of the packages that contain classes. */
  val packages: Seq[String] = classes.asScala.map(_.getPackageName).toSeq.distinct.sorted

  /** Checks that no package depends on itself through other packages. Subpackages are separate packages. */
  def checkNoCycles(): Unit =
    SlicesRuleDefinition.slices.assignedFrom(OnePackageEach).should.beFreeOfCycles.check(classes)

  /**
   * Checks that the packages of each layer use only their own layer and lower layers.
   *
   * @param bottomUp
   *   the layers from the lowest to the highest, each a list of package patterns: `a.b` is one package, and `a.b..`
   *   includes its subpackages. Every package of the module must belong to exactly one layer.
   */
  def checkLayers(bottomUp: Seq[String]*): Unit = {
    packages.foreach { name =>
      val owners = bottomUp.filter(_.exists(PackageMatcher.of(_).matches(name)))
      if (owners.size != 1)
        throw new AssertionError(
          s"Package $name belongs to ${owners.size} layers instead of one: " +
            s"${owners.map(_.mkString("[", ", ", "]"))}. Add it to the layer that it is part of."
        )
    }
    bottomUp.indices.foreach { i =>
      val allowed = bottomUp.take(i + 1).flatten
      ArchRuleDefinition.classes
        .that(resideInAnyPackage(bottomUp(i): _*))
        .should
        .onlyDependOnClassesThat(resideInAnyPackage(allowed: _*).or(not(inThisModule)))
        .allowEmptyShould(false)
        .check(classes)
    }
  }

  /** Checks that the module uses only itself, the Java and Scala libraries and these packages. */
  def checkUses(allowed: String*): Unit = {
    val libraries = Seq("java..", "javax..", "scala..") ++ allowed
    ArchRuleDefinition.classes
      .should
      .onlyDependOnClassesThat(resideInAnyPackage(libraries: _*).or(inThisModule).or(primitive))
      .check(classes)
  }

  /** Checks that no class in the `user` packages uses a class in one of the `used` packages. */
  def checkNoUse(user: String, used: String*): Unit = ArchRuleDefinition.noClasses
    .that(resideInAPackage(user))
    .should
    .dependOnClassesThat(resideInAnyPackage(used: _*))
    .allowEmptyShould(false)
    .check(classes)

  /** Checks that no constructor of the classes whose names match, nor of their companions, has default arguments. */
  def checkNoDefaultArguments(className: String): Unit = {
    val matching = classes.asScala.filter(_.getSimpleName.stripSuffix("$").matches(className)).toSeq
    if (matching.isEmpty) throw new AssertionError(s"No class is named $className.")
    val defaults = matching.flatMap(_.getMethods.asScala).map(_.getFullName)
      .filter(_.matches(".*\\.(apply|\\$lessinit\\$greater)\\$default\\$.*"))
    if (defaults.nonEmpty) throw new AssertionError(s"Default arguments: ${defaults.sorted.mkString(", ")}")
  }

  private def inThisModule: DescribedPredicate[JavaClass] = DescribedPredicate.describe(
    "belong to this module",
    (used: JavaClass) => classes.contain(used.getBaseComponentType.getName)
  )

  private def primitive: DescribedPredicate[JavaClass] =
    DescribedPredicate.describe("are primitive", (used: JavaClass) => used.getBaseComponentType.isPrimitive)
}

private object OnePackageEach extends SliceAssignment {
  override def getIdentifierOf(member: JavaClass): SliceIdentifier = SliceIdentifier.of(member.getPackageName)
  override def getDescription: String = "one slice for each package"
}
