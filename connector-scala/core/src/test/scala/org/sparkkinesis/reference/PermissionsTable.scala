package org.sparkkinesis.reference

import java.nio.file.Files

import org.sparkkinesis.json.Json
import org.sparkkinesis.service.{ConnectorUse, IamResource}

/** The permissions of each use: the table of `docs/cluster.md`, and `_permissions.py`. */
object PermissionsTable {
  private val Page = "docs/cluster.md"
  private val Begin = s"<!-- The table is made from ConnectorUse; renew it with: ${GeneratedFiles.Command} -->\n"
  private val End = "<!-- end of the table -->\n"

  /** The page with the table of the declarations in the place of its table. */
  def page: (String, String) = {
    val text = Files.readString(GeneratedFiles.root.resolve(Page))
    val (begin, end) = (text.indexOf(Begin), text.indexOf(End))
    require(0 <= begin && begin < end, s"$Page has no place for the table of permissions")
    Page -> s"${text.take(begin)}$Begin$table$End${text.drop(end + End.length)}"
  }

  private def table: String = {
    val rows = ConnectorUse.all.map { use =>
      val actions = use.operations.groupBy(IamResource.of).toSeq
        .sortBy { case (_, operations) => use.operations.indexOf(operations.head) }
        .map { case (resource, operations) =>
          s"${operations.map(one => s"`${one.permission}`").mkString(", ")} on ${place(resource)}"
        }
      s"| ${use.title} | ${actions.mkString("; ")} | ${use.kmsAction.fold("")(action => s"`$action`")} |"
    }
    (Seq("", "| Use | IAM actions | Key of an encrypted stream |", "|---|---|---|") ++ rows).mkString("", "\n", "\n\n")
  }

  private def place(resource: IamResource): String = resource match {
    case IamResource.Stream => "the stream"
    case IamResource.Consumer => "the consumer"
    case IamResource.DeliveryStream => "the delivery stream"
    case IamResource.Everything => "`*`"
  }

  def python: String = {
    val uses = ConnectorUse.all.map { use =>
      val permissions = use.operations.map(one => s"(${text(one.permission)}, ${text(IamResource.of(one).name)}),")
      val tuple =
        if (permissions.size == 1) s"(${permissions.head})"
        else permissions.map(line => s"        $line\n").mkString("(\n", "", "    )")
      s"    ${text(use.key)}: $tuple,"
    }
    val keys = ConnectorUse.all.flatMap(use => use.kmsAction.map(action => s"    ${text(use.key)}: ${text(action)},"))
    s"""# Made from ConnectorUse; renew with: ${GeneratedFiles.Command}
       |\"\"\"The IAM actions and their resources that each use of the connector needs. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |from collections.abc import Mapping
       |
       |PERMISSIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
       |${uses.mkString("\n")}
       |}
       |
       |KMS_ACTIONS: Mapping[str, str] = {
       |${keys.mkString("\n")}
       |}
       |""".stripMargin
  }

  private def text(value: String): String = Json.render(Json.Str(value))
}
