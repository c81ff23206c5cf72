package org.sparkkinesis.emulator.wire.page

import org.sparkkinesis.suite.TimedSuite

class StatusPageSuite extends TimedSuite {
  Seq[(Long, String)](
    0L -> "0 B",
    1023L -> "1023 B",
    1024L -> "1.0 KiB",
    100000L -> "97.7 KiB",
    1048575L -> "1024.0 KiB",
    1048576L -> "1.0 MiB",
    5242880000L -> "5000.0 MiB"
  ).foreach { case (bytes, shown) =>
    test(s"$bytes bytes are shown as $shown")(assert(StatusPage.size(bytes) == shown))
  }
}
