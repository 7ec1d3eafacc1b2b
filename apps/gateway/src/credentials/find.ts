// Decides where a provider answers and how it is signed in to.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { findProvider, providerAt } from "@clew/plugin-sdk/host";
import { unsendableCharacter } from "@clew/providers";
import { type Environment, expandVariables, keyNames } from "../config/environment.ts";
import type { ProviderConfig } from "../config/models.ts";
import { awsFactsOf, bedrockAddress, regionIn, vertexAddress } from "./addresses.ts";
import { type AwsFacts, awsRegion, planAws } from "./aws/plan.ts";
import { awsSource } from "./aws/source.ts";
import type { CredentialSource } from "./credential.ts";
import { type GooglePlan, planGoogle } from "./google/plan.ts";
import { googleSource } from "./google/source.ts";
import { keyFromCommand } from "./key-command.ts";

/** How a provider is reached. */
export interface Access {
  baseUrl: string;
  /** Absent: there is none, or a source gives it. */
  apiKey?: string;
  /** Absent: there is a key, or nothing is asked for. */
  source?: CredentialSource;
  /** Of requests that are signed. Absent: none are. */
  region?: string;
  /** Completes "signs in with …", without a secret. */
  from: string;
}

export type AccessEnvironment = Pick<
  Environment,
  "variable" | "providerKey" | "userHome" | "readText"
>;

const MACHINE = "metadata.google.internal";

/** Throws CONFIG_INVALID with one sentence about what is missing. Asks no network. */
export function findAccess(
  providerId: string,
  configured: ProviderConfig | undefined,
  environment: AccessEnvironment,
): Access {
  const way = wayOf(providerId, configured);
  const aws = way === "aws" ? awsFactsOf(configured, environment) : undefined;
  const google = way === "google" ? planGoogleFor(configured, environment) : undefined;
  const baseUrl = addressFor(providerId, { configured, environment, aws, google });
  if (configured?.apiKey !== undefined && configured.apiKeyCommand !== undefined)
    throw invalid(
      `models.providers.${providerId} sets both apiKey and apiKeyCommand; remove one of them.`,
    );
  const found =
    givenKey(providerId, configured, environment) ??
    commandKey(configured) ??
    usualKey(providerId, configured, environment);
  if (found !== undefined) return { baseUrl, ...sendable(providerId, found) };
  if (aws !== undefined) {
    const region = configured?.aws?.region ?? regionIn(baseUrl) ?? awsRegion(aws);
    if (region === undefined) throw invalid(noRegion(providerId));
    const plan = planAws(aws);
    if (plan.kind === "missing") throw cannotSignIn(providerId, plan.why);
    const source = awsSource(plan, {
      userHome: environment.userHome,
      ssoEndpoint: configured?.aws?.ssoEndpoint ?? environment.variable("AWS_ENDPOINT_URL_SSO"),
      ssoOidcEndpoint:
        configured?.aws?.ssoOidcEndpoint ?? environment.variable("AWS_ENDPOINT_URL_SSO_OIDC"),
      stsEndpoint: configured?.aws?.stsEndpoint ?? environment.variable("AWS_ENDPOINT_URL_STS"),
      region,
      commandTimeoutMs: timeoutOf(configured),
    });
    return { baseUrl, region, source, from: source.name };
  }
  if (google !== undefined) {
    if (google.kind === "missing") throw cannotSignIn(providerId, google.why);
    const source = googleSource(google, {
      tokenEndpoint: configured?.google?.tokenEndpoint,
      metadataHost: environment.variable("GCE_METADATA_HOST") ?? MACHINE,
    });
    return { baseUrl, source, from: source.name };
  }
  const needsKey = findProvider(providerId)?.needsKey !== undefined;
  // A server of a person's own may stand in for the provider and ask for nothing.
  if (needsKey && configured?.baseUrl === undefined)
    throw notSignedIn(
      `Provider "${providerId}" needs a key: set ${keyNames(providerId).join(" or ")}, or models.providers.${providerId}.apiKey.`,
    );
  return { baseUrl, from: "nothing" };
}

/** The address alone, also where nothing is there to sign in with; undefined: it has none. */
export function findAddress(
  providerId: string,
  configured: ProviderConfig | undefined,
  environment: AccessEnvironment,
): string | undefined {
  const way = wayOf(providerId, configured);
  try {
    return addressFor(providerId, {
      configured,
      environment,
      aws: way === "aws" ? awsFactsOf(configured, environment) : undefined,
      google: way === "google" ? planGoogleFor(configured, environment) : undefined,
    });
  } catch (error) {
    if (ContextEngineError.is(error, "CONFIG_INVALID")) return undefined;
    throw error;
  }
}

const addressFor = (providerId: string, facts: AddressFacts): string =>
  facts.configured?.baseUrl ?? findProvider(providerId)?.baseUrl ?? ownAddress(providerId, facts);

/** Throws for a key that was pasted with a character that no request can carry. */
function sendable(providerId: string, found: Found): Found {
  const odd = found.apiKey === undefined ? undefined : unsendableCharacter(found.apiKey);
  if (odd === undefined) return found;
  throw invalid(
    `The key of provider "${providerId}" (${found.from}) has the character ${odd.character} at place ${odd.place}, which HTTP cannot carry; copy the key anew.`,
  );
}

type Way = "aws" | "google" | undefined;

/** Whose logins a provider takes besides a key; its address follows from region or project then. */
const LOGINS: ReadonlyMap<string, Way> = new Map([
  ["amazon-bedrock", "aws"],
  ["google-vertex", "google"],
  ["anthropic-vertex", "google"],
]);

/** By what the settings say, else by who answers: a stand-in is asked for nothing of its own. */
function wayOf(providerId: string, configured: ProviderConfig | undefined): Way {
  if (configured?.aws !== undefined) return "aws";
  if (configured?.google !== undefined) return "google";
  const { baseUrl } = configured ?? {};
  const login = LOGINS.get(providerId);
  if (baseUrl === undefined) return login;
  const { hostname } = new URL(baseUrl);
  const isTheirs = hostname.endsWith(".amazonaws.com") || hostname.endsWith(".googleapis.com");
  return isTheirs && providerAt(baseUrl) === undefined ? login : undefined;
}

const planGoogleFor = (
  configured: ProviderConfig | undefined,
  environment: AccessEnvironment,
): GooglePlan =>
  planGoogle({
    ...environment,
    file: configured?.google?.credentialsFile,
    asksMachine: configured?.google?.metadataServer ?? false,
  });

interface AddressFacts {
  configured: ProviderConfig | undefined;
  environment: AccessEnvironment;
  aws: AwsFacts | undefined;
  google: GooglePlan | undefined;
}

function ownAddress(
  providerId: string,
  { configured, environment, aws, google }: AddressFacts,
): string {
  const setting = `models.providers.${providerId}`;
  if (aws !== undefined) {
    const region = configured?.aws?.region ?? awsRegion(aws);
    if (region === undefined) throw invalid(noRegion(providerId));
    return bedrockAddress(region);
  }
  if (google !== undefined) {
    const ofFile = "project" in google ? google.project : undefined;
    const project =
      configured?.google?.project ?? environment.variable("GOOGLE_CLOUD_PROJECT") ?? ofFile;
    if (project === undefined)
      throw invalid(
        `Provider "${providerId}" has no project: set ${setting}.google.project, or GOOGLE_CLOUD_PROJECT.`,
      );
    const location =
      configured?.google?.location ?? environment.variable("GOOGLE_CLOUD_LOCATION") ?? "global";
    return vertexAddress(project, location);
  }
  throw invalid(`Provider "${providerId}" has no address: set ${setting}.baseUrl.`);
}

const noRegion = (providerId: string): string =>
  `Provider "${providerId}" has no region: set models.providers.${providerId}.aws.region, or AWS_REGION.`;

type Found = Pick<Access, "apiKey" | "source" | "from">;

function givenKey(
  providerId: string,
  configured: ProviderConfig | undefined,
  environment: AccessEnvironment,
): Found | undefined {
  if (configured?.apiKey === undefined) return undefined;
  const setting = `models.providers.${providerId}.apiKey`;
  const expanded = expandVariables(configured.apiKey, environment);
  if ("text" in expanded) return { apiKey: expanded.text, from: `the setting ${setting}` };
  const names = expanded.missing.join(", ");
  throw invalid(
    `${setting} names ${names}, which is not in the environment; set it and start again.`,
  );
}

function commandKey(configured: ProviderConfig | undefined): Found | undefined {
  if (configured?.apiKeyCommand === undefined) return undefined;
  const source = keyFromCommand(configured.apiKeyCommand, timeoutOf(configured));
  return { source, from: source.name };
}

/** Not where the settings name a login. */
function usualKey(
  providerId: string,
  configured: ProviderConfig | undefined,
  environment: AccessEnvironment,
): Found | undefined {
  const apiKey = environment.providerKey(providerId);
  const isNamed = configured?.aws?.profile ?? configured?.google?.credentialsFile;
  if (apiKey === undefined || isNamed !== undefined) return undefined;
  const name = keyNames(providerId).find((each) => environment.variable(each) !== undefined);
  return { apiKey, from: `${name ?? "a variable"} of the environment` };
}

const timeoutOf = (configured: ProviderConfig | undefined): number =>
  (configured?.apiKeyCommandSeconds ?? 30) * 1000;

const cannotSignIn = (providerId: string, why: string): ContextEngineError =>
  notSignedIn(`Provider "${providerId}" cannot sign in: ${why}.`);

const NOT_SIGNED_IN = Symbol("not signed in");

const notSignedIn = (message: string): ContextEngineError =>
  new ContextEngineError("CONFIG_INVALID", message, { cause: NOT_SIGNED_IN });

/** True: nothing is wrong with the settings but that there is nothing to sign in with. */
export const isNotSignedIn = (error: unknown): boolean =>
  ContextEngineError.is(error, "CONFIG_INVALID") && error.cause === NOT_SIGNED_IN;

const invalid = (message: string): ContextEngineError =>
  new ContextEngineError("CONFIG_INVALID", message);
