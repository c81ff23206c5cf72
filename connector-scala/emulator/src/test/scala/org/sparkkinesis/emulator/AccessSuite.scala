package org.sparkkinesis.emulator

import scala.concurrent.duration._

import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.kit.JsonClient.{Reply, at, base64}
import org.sparkkinesis.suite.TimedSuite

/** The action and resource that each operation needs, and the policies of keys, roles, streams and encryption keys. */
class AccessSuite extends TimedSuite with BeforeAndAfterAll {
  private lazy val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds))
  private lazy val client = new JsonClient(emulator.endpoint)
  private val orders = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
  private lazy val consumer: String = {
    val made = client.ok("RegisterStreamConsumer", s"""{"StreamARN": "$orders", "ConsumerName": "app"}""")
    at(made, "Consumer", "ConsumerARN").toString
  }
  private lazy val iterator: String = {
    val shard = """{"StreamName": "orders", "ShardId": "shardId-000000000000", "ShardIteratorType": "LATEST"}"""
    at(client.ok("GetShardIterator", shard), "ShardIterator").toString
  }

  override def beforeAll(): Unit = {
    emulator.admin.createStream("orders", 1)
    ()
  }

  override def afterAll(): Unit = emulator.close()

  private def signed(key: String): (String, String) =
    "Authorization" ->
      s"AWS4-HMAC-SHA256 Credential=$key/20261126/us-east-1/kinesis/aws4_request, SignedHeaders=host, Signature=0"

  private def statement(action: String, resource: String, more: String = ""): String =
    s"""{"Statement": [{"Effect": "Allow", "Action": "$action", "Resource": "$resource"$more}]}"""

  private def as(key: String)(operation: String, body: String): Reply = client.call(operation, body, signed(key))

  private def message(reply: Reply): String = String.valueOf(at(reply.json, "message"))

  private lazy val operations = {
    val stream = s""""StreamARN": "$orders""""
    val record = s""""Data": "${base64("a")}", "PartitionKey": "k""""
    Seq[(String, String, String)](
      ("DescribeStreamSummary", """{"StreamName": "orders"}""", orders),
      ("DescribeStreamSummary", s"{$stream}", orders),
      ("ListShards", """{"StreamName": "orders"}""", orders),
      ("ListStreams", "{}", "*"),
      (
        "GetShardIterator",
        s"""{$stream, "ShardId": "shardId-000000000000", "ShardIteratorType": "TRIM_HORIZON"}""",
        orders
      ),
      ("GetRecords", s"""{"ShardIterator": "$iterator"}""", orders),
      ("PutRecord", s"{$stream, $record}", orders),
      ("PutRecords", s"""{"StreamName": "orders", "Records": [{$record}]}""", orders),
      ("ListStreamConsumers", s"{$stream}", orders),
      ("DescribeStreamConsumer", s"""{"ConsumerARN": "$consumer"}""", consumer),
      ("DescribeStreamConsumer", s"""{$stream, "ConsumerName": "app"}""", consumer),
      ("RegisterStreamConsumer", s"""{$stream, "ConsumerName": "another"}""", orders)
    )
  }

  test("each operation needs its action on its resource, and the refusal names both") {
    operations.foreach { case (operation, body, resource) =>
      val action = s"kinesis:$operation"
      emulator.admin.setPolicies("KEY", statement(action, resource))
      assert(as("KEY")(operation, body).status == 200, operation)
      emulator.admin.setPolicies("KEY", statement(action, "arn:aws:kinesis:us-east-1:123456789012:stream/other"))
      val refused = as("KEY")(operation, body)
      assert((operation, refused.status, refused.errorType) == ((operation, 400, "AccessDeniedException")))
      assert(message(refused) == s"User: arn:aws:iam::123456789012:user/KEY is not authorized to perform: $action on " +
        s"resource: $resource because no identity-based policy allows the $action action")
      emulator.admin.setPolicies("KEY", statement("kinesis:TagResource", "*"))
      assert(as("KEY")(operation, body).errorType == "AccessDeniedException", operation)
      assert(client.call(operation, body.replace("another", "third"), signed("OTHER")).status == 200, operation)
    }
    emulator.admin.setPolicies("KEY")
    assert(as("KEY")("ListStreams", "{}").status == 200)
  }

  test("the next page of a listing needs the action on the stream of the first") {
    emulator.admin.createStream("paged", 3)
    val arn = orders.replace("orders", "paged")
    val page = client.ok("ListShards", """{"StreamName": "paged", "MaxResults": 1}""")
    val next = s"""{"NextToken": "${at(page, "NextToken")}"}"""
    emulator.admin.setPolicies("PAGES", statement("kinesis:ListShards", arn))
    assert(as("PAGES")("ListShards", next).status == 200)
    emulator.admin.setPolicies("PAGES", statement("kinesis:ListShards", orders))
    assert(message(as("PAGES")("ListShards", next)).contains(arn))
  }

  test("a refused call is counted for its stream and shard, as those that are served") {
    emulator.admin.createStream("counted", 1)
    emulator.admin.setPolicies("NOBODY", statement("kinesis:ListStreams", "*"))
    val iterator = """{"StreamName": "counted", "ShardId": "shardId-000000000000", "ShardIteratorType": "LATEST"}"""
    as("NOBODY")("GetShardIterator", iterator)
    as("NOBODY")("ListShards", s"""{"StreamARN": "${orders.replace("orders", "counted")}"}""")
    val refused = "AccessDeniedException"
    assert(emulator.calls.count("GetShardIterator", "counted", "shardId-000000000000", refused) == 1)
    assert(emulator.calls.count("ListShards", "counted", result = refused) == 1)
  }

  test("Firehose needs the action on the delivery stream") {
    emulator.admin.createDeliveryStream("archive")
    val body = s"""{"DeliveryStreamName": "archive", "Records": [{"Data": "${base64("a")}"}]}"""
    def put(): Reply = client.firehose("PutRecordBatch", body, signed("HOSE"))
    val arn = "arn:aws:firehose:us-east-1:123456789012:deliverystream/archive"
    emulator.admin.setPolicies("HOSE", statement("firehose:PutRecordBatch", arn))
    assert(put().status == 200)
    emulator.admin.setPolicies("HOSE", statement("kinesis:*", "*"))
    assert(message(put()).contains(s"firehose:PutRecordBatch on resource: $arn because"))
  }

  test("the policy of a stream denies and allows, until it is deleted") {
    emulator.admin.createStream("shared", 1)
    val arn = orders.replace("orders", "shared")
    def put(effect: String, key: String) = {
      val policy = s"""{"Statement": [{"Effect": "$effect", "Principal": {"AWS": "arn:aws:iam::123456789012:user/$key"},
        "Action": "kinesis:ListShards", "Resource": "$arn"}]}"""
      client.ok("PutResourcePolicy", s"""{"ResourceARN": "$arn", "Policy": ${quoted(policy)}}""")
    }
    def list(key: String): Reply = as(key)("ListShards", """{"StreamName": "shared"}""")
    put("Deny", "DENIED")
    assert(message(list("DENIED")).endsWith("with an explicit deny in a resource-based policy"))
    assert(list("OTHER").status == 200)
    emulator.admin.setPolicies("GUEST", statement("kinesis:ListStreams", "*"))
    assert(list("GUEST").errorType == "AccessDeniedException")
    put("Allow", "GUEST")
    assert(list("GUEST").status == 200 && list("DENIED").status == 200)
    client.ok("DeleteResourcePolicy", s"""{"ResourceARN": "$arn"}""")
    assert(list("GUEST").errorType == "AccessDeniedException")
    val broken = client.call("PutResourcePolicy", s"""{"ResourceARN": "$arn", "Policy": "{"}""")
    assert(broken.errorType == "InvalidArgumentException")
  }

  private def quoted(text: String): String = "\"" + text.replace("\n", " ").replace("\"", "\\\"") + "\""

  test("an encrypted stream needs its key through the service of its region, as well") {
    emulator.admin.createStream("secret", 1)
    val key = "arn:aws:kms:us-east-1:123456789012:key/1234abcd"
    client.ok("StartStreamEncryption", s"""{"StreamName": "secret", "EncryptionType": "KMS", "KeyId": "$key"}""")
    val put = s"""{"StreamName": "secret", "Data": "${base64("a")}", "PartitionKey": "k"}"""
    def via(region: String) =
      s""", "Condition": {"StringEquals": {"kms:ViaService": "kinesis.$region.amazonaws.com"}}"""
    emulator.admin.setPolicies("WRITER", statement("kinesis:PutRecord", "*"))
    val refused = as("WRITER")("PutRecord", put)
    assert(refused.errorType == "KMSAccessDeniedException")
    assert(message(refused).contains(s"kms:GenerateDataKey on resource: $key because"))
    def withKey(action: String, region: String): Unit =
      emulator.admin.setPolicies("WRITER", statement("kinesis:PutRecord", "*"), statement(action, key, via(region)))
    withKey("kms:GenerateDataKey", "eu-west-1")
    assert(as("WRITER")("PutRecord", put).errorType == "KMSAccessDeniedException")
    withKey("kms:Decrypt", "us-east-1")
    assert(as("WRITER")("PutRecord", put).errorType == "KMSAccessDeniedException")
    withKey("kms:GenerateDataKey", "us-east-1")
    assert(as("WRITER")("PutRecord", put).status == 200)
  }

  test("a role has the policies of its ARN, and the caller needs sts:AssumeRole") {
    val role = "arn:aws:iam::123456789012:role/path/reader"
    def assume(key: String): Reply = client.page(
      "POST",
      "/",
      s"Action=AssumeRole&RoleArn=$role&RoleSessionName=job",
      "Content-Type" -> "application/x-www-form-urlencoded",
      signed(key)
    )
    emulator.admin.setPolicies("BASE", statement("sts:AssumeRole", role))
    emulator.admin.setPolicies(role, statement("kinesis:ListStreams", "*"))
    val assumed = assume("BASE")
    assert(assumed.status == 200, assumed.text)
    val key = "<AccessKeyId>(.*)</AccessKeyId>".r.findFirstMatchIn(assumed.text).get.group(1)
    assert(as(key)("ListStreams", "{}").status == 200)
    assert(message(as(key)("ListShards", """{"StreamName": "any"}"""))
      .startsWith("User: arn:aws:sts::123456789012:assumed-role/reader/job is not authorized to perform"))
    emulator.admin.setPolicies("BASE", statement("kinesis:*", "*"))
    val refused = assume("BASE")
    assert(refused.status == 403 &&
      refused.text.contains(s"not authorized to perform: sts:AssumeRole on resource: $role"))
  }

  test("the page of policies sets them, and names what is wrong with them") {
    client.admin("POST", "policies", """{"owner": "PAGE", "policies": ["{}"]}""")
    assert(as("PAGE")("ListStreams", "{}").errorType == "AccessDeniedException")
    client.admin("POST", "policies", """{"owner": "PAGE", "policies": []}""")
    assert(as("PAGE")("ListStreams", "{}").status == 200)
    val wrong = client.page(
      "POST",
      "/_emulator/policies",
      """{"owner": "PAGE", "policies": ["{"]}""",
      "Content-Type" -> "application/json"
    )
    assert(wrong.status == 400 && wrong.text.contains("The policy is not valid"))
  }
}
