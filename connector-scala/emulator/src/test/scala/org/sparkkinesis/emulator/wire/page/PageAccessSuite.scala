package org.sparkkinesis.emulator.wire.page

import org.sparkkinesis.suite.TimedSuite

class PageAccessSuite extends TimedSuite {
  private val open = new PageAccess(None)
  private val guarded = new PageAccess(Some("the-token"))
  private val get = PageRequest("GET", "/_emulator/calls", host = "127.0.0.1:4567")
  private val post = get.copy(method = "POST", contentType = "application/json")

  private def status(access: PageAccess, request: PageRequest): Option[Int] = access.refusal(request).map(_.status)

  Seq("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:4567", "[::1]", "[::1]:4567").foreach { host =>
    test(s"a request to the host $host is served")(assert(status(open, get.copy(host = host)).isEmpty))
  }

  Seq(null, "", "example.com", "example.com:4567", "127.0.0.1.example.com", "localhost.example.com:80", "10.0.0.1")
    .foreach { host =>
      test(s"a request to the host $host is refused") {
        assert(status(open, get.copy(host = host)).contains(403))
        assert(status(open, get.copy(host = host, path = "/")).contains(403))
      }
    }

  test("requests of the emulator's own pages are served, requests of another origin are refused") {
    assert(status(open, post.copy(origin = "http://127.0.0.1:4567")).isEmpty)
    Seq("http://example.com", "http://127.0.0.1:8080", "http://127.0.0.1", "null", "").foreach { origin =>
      assert(status(open, post.copy(origin = origin)).contains(403), origin)
      assert(status(open, get.copy(origin = origin)).contains(403), origin)
    }
  }

  test("a POST must be JSON, since browsers send other types to any site") {
    assert(status(open, post.copy(contentType = "application/json; charset=utf-8")).isEmpty)
    Seq(null, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data").foreach { contentType =>
      assert(status(open, post.copy(contentType = contentType)).contains(415), s"$contentType")
    }
  }

  test("with a token, a request must have it in its header") {
    assert(status(guarded, post.copy(authorization = "Bearer the-token")).isEmpty)
    assert(status(guarded, post.copy(authorization = "bearer the-token")).isEmpty)
    Seq(null, "", "the-token", "Bearer", "Bearer another", "Basic the-token").foreach { authorization =>
      assert(status(guarded, post.copy(authorization = authorization)).contains(403), s"$authorization")
    }
  }

  test("only the status page accepts the token as a query parameter") {
    assert(status(guarded, get.copy(path = "/", query = "token=the-token")).isEmpty)
    assert(status(guarded, get.copy(path = "/", query = "a=b&token=the-token")).isEmpty)
    assert(status(guarded, get.copy(path = "/", query = "token=another")).contains(403))
    assert(status(guarded, get.copy(query = "token=the-token")).contains(403))
  }

  test("a token does not replace the checks of host and origin") {
    val withToken = post.copy(authorization = "Bearer the-token")
    assert(status(guarded, withToken.copy(host = "example.com")).contains(403))
    assert(status(guarded, withToken.copy(origin = "http://example.com")).contains(403))
  }

  test("tokens are different and can be part of a URL") {
    val tokens = Seq.fill(100)(PageAccess.newToken())
    assert(tokens.distinct.size == 100)
    assert(tokens.forall(_.matches("[A-Za-z0-9_-]{32}")))
  }
}
