package org.sparkkinesis.conformance

import org.sparkkinesis.conformance.backend.{OnFerrokinesis, OnKinesisLocal, OnMinistack, OnRealTime, OnService}

class KinesisLocalStreamSuite extends StreamSuite with OnKinesisLocal
class KinesisLocalFanOutSuite extends FanOutSuite with OnKinesisLocal with OnRealTime
class MinistackStreamSuite extends StreamSuite with OnMinistack
class MinistackFanOutSuite extends FanOutSuite with OnMinistack with OnRealTime
class FerrokinesisStreamSuite extends StreamSuite with OnFerrokinesis
class FerrokinesisFanOutSuite extends FanOutSuite with OnFerrokinesis with OnRealTime
class ServiceStreamSuite extends StreamSuite with OnService
class ServiceFanOutSuite extends FanOutSuite with OnService with OnRealTime
