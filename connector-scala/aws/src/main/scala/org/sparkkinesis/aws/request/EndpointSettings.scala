package org.sparkkinesis.aws.request

import java.net.URI
import java.util.Locale

import scala.jdk.OptionConverters._

import software.amazon.awssdk.awscore.endpoint.{
  AwsClientEndpointProvider, DualstackEnabledProvider, FipsEnabledProvider
}
import software.amazon.awssdk.profiles.{ProfileFile, ProfileFileSystemSetting}

/**
 * What an option, the system properties, the environment and a profile say of the endpoint of one service, as the SDK's
 * clients read them: `AWS_ENDPOINT_URL_SERVICE`, `AWS_ENDPOINT_URL`, `AWS_USE_FIPS_ENDPOINT`,
 * `AWS_USE_DUALSTACK_ENDPOINT`, and the settings of the profile with the same meaning.
 *
 * @param service
 *   the service in these names, such as `Kinesis`
 * @param option
 *   the address of an option, which precedes the others
 * @param profile
 *   name of the profile; if empty, `AWS_PROFILE` or `default`
 */
final private[aws] class EndpointSettings(service: String, option: Option[URI], profile: Option[String]) {
  private val profileName = profile.getOrElse(ProfileFileSystemSetting.AWS_PROFILE.getStringValueOrThrow)
  private lazy val profiles = ProfileFile.defaultProfileFile

  /** The address of all calls, if one is set. */
  val overridden: Option[URI] = option.orElse(
    AwsClientEndpointProvider.builder()
      .serviceEndpointOverrideEnvironmentVariable(s"AWS_ENDPOINT_URL_${service.toUpperCase(Locale.ROOT)}")
      .serviceEndpointOverrideSystemProperty(s"aws.endpointUrl$service")
      .serviceProfileProperty(service.toLowerCase(Locale.ROOT))
      .profileFile(() => profiles)
      .profileName(profileName)
      .resolveFromOverrides().toScala
  )

  val useFips: Option[java.lang.Boolean] =
    FipsEnabledProvider.builder().profileFile(() => profiles).profileName(profileName).build().isFipsEnabled.toScala

  val useDualStack: Option[java.lang.Boolean] = DualstackEnabledProvider.builder()
    .profileFile(() => profiles).profileName(profileName).build().isDualstackEnabled.toScala
}
