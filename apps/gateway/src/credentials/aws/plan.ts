// Decides which AWS credentials a provider uses, from settings, environment and profiles.
import { parseSections, profileIn, type Sections } from "./files.ts";

/** What there is to decide from. */
export interface AwsFacts {
  /** As the configuration names it. */
  profile: string | undefined;
  variable(name: string): string | undefined;
  /** Text of AWS's config file; "" = there is none. */
  configText: string;
  /** Text of AWS's credentials file; "" = there is none. */
  credentialsText: string;
}

export interface SsoLogin {
  profile: string;
  /** What the file of the cached token is named by. */
  cacheKey: string;
  region: string;
  accountId: string;
  roleName: string;
}

export type AwsPlan =
  | {
      kind: "keys";
      /** Completes "signs in with …". */
      from: string;
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken?: string;
    }
  | { kind: "sso"; login: SsoLogin }
  | { kind: "program"; profile: string; command: string }
  | { kind: "role"; role: AwsRole; by: UsableAwsPlan }
  | { kind: "web-identity"; role: AwsRole; tokenFile: string }
  | { kind: "missing"; why: string };

export type UsableAwsPlan = Exclude<AwsPlan, { kind: "missing" }>;

/** A role that is taken on. */
export interface AwsRole {
  /** The profile that names it; undefined = the environment does. */
  profile: string | undefined;
  arn: string;
  sessionName: string;
  /** Where it is asked for; undefined = where requests go. */
  region: string | undefined;
  /** What another account's role may want to be told; undefined = nothing. */
  externalId: string | undefined;
  /** How long its keys hold; undefined = as AWS decides. */
  seconds: string | undefined;
}

export function planAws(facts: AwsFacts): AwsPlan {
  const ofEnvironment =
    facts.profile === undefined ? (keysIn(facts) ?? webIdentityIn(facts)) : undefined;
  if (ofEnvironment !== undefined) return ofEnvironment;
  const config = parseSections(facts.configText);
  const files = { config, credentials: parseSections(facts.credentialsText) };
  const name = facts.profile ?? facts.variable("AWS_PROFILE") ?? "default";
  const profile = profileIn(files, name);
  if (profile === undefined) return { kind: "missing", why: noProfile(name, facts) };
  return planProfile(name, profile, { facts, files, seen: [] });
}

/** Where other profiles are found. */
interface Profiles {
  facts: AwsFacts;
  files: { config: Sections; credentials: Sections };
  /** Profiles whose role is being planned, the first one first. */
  seen: readonly string[];
}

/** The region of requests; undefined when nothing tells it. */
export function awsRegion(facts: AwsFacts): string | undefined {
  const files = {
    config: parseSections(facts.configText),
    credentials: parseSections(facts.credentialsText),
  };
  const name = facts.profile ?? facts.variable("AWS_PROFILE") ?? "default";
  const ofProfile = profileIn(files, name)?.region;
  if (facts.profile !== undefined && ofProfile !== undefined) return ofProfile;
  return facts.variable("AWS_REGION") ?? facts.variable("AWS_DEFAULT_REGION") ?? ofProfile;
}

/** Keys in the environment come before profiles. */
function keysIn({ variable }: AwsFacts): AwsPlan | undefined {
  const accessKeyId = variable("AWS_ACCESS_KEY_ID");
  const secretAccessKey = variable("AWS_SECRET_ACCESS_KEY");
  const sessionToken = variable("AWS_SESSION_TOKEN");
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    return {
      kind: "missing",
      why: `only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set; set both, or neither to use a profile`,
    };
  return {
    kind: "keys",
    from: "AWS_ACCESS_KEY_ID of the environment",
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
  };
}

/** What Kubernetes gives a pod: a file with a token that is renewed, and the role it stands for. */
function webIdentityIn({ variable }: AwsFacts): AwsPlan | undefined {
  const tokenFile = variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  const arn = variable("AWS_ROLE_ARN");
  if (tokenFile === undefined) return undefined;
  if (arn === undefined)
    return {
      kind: "missing",
      why: "AWS_WEB_IDENTITY_TOKEN_FILE is set without AWS_ROLE_ARN; set the role, or unset the file to use a profile",
    };
  const session = variable("AWS_ROLE_SESSION_NAME") ?? "clew";
  return planWebIdentity(undefined, tokenFile, { role_arn: arn, role_session_name: session });
}

const planWebIdentity = (
  name: string | undefined,
  tokenFile: string,
  profile: Readonly<Record<string, string>>,
): AwsPlan => ({ kind: "web-identity", role: roleIn(name, profile), tokenFile });

const roleIn = (name: string | undefined, profile: Readonly<Record<string, string>>): AwsRole => ({
  ...{ profile: name, arn: profile.role_arn ?? "" },
  sessionName: profile.role_session_name ?? "clew",
  ...{ region: profile.region, externalId: profile.external_id },
  seconds: profile.duration_seconds,
});

function planProfile(
  name: string,
  profile: Readonly<Record<string, string>>,
  profiles: Profiles,
): AwsPlan {
  // A profile may take on its role with keys of its own.
  if (profile.role_arn !== undefined && !profiles.seen.includes(name))
    return planRole(name, profile, profiles);
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = profile;
  const { aws_session_token: sessionToken, credential_process: command } = profile;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return {
      kind: "keys",
      from: `AWS profile "${name}"`,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    };
  if (profile.sso_account_id !== undefined && profile.sso_role_name !== undefined)
    return planSso(name, profile, profiles.files.config);
  if (command !== undefined) return { kind: "program", profile: name, command };
  return {
    kind: "missing",
    why: `AWS profile "${name}" holds neither keys nor a way to get them; run: aws configure --profile ${name}`,
  };
}

function planRole(
  name: string,
  profile: Readonly<Record<string, string>>,
  { facts, files, seen }: Profiles,
): AwsPlan {
  const missing = (why: string): AwsPlan => ({
    kind: "missing",
    why: `AWS profile "${name}" takes on a role ${why}`,
  });
  const { source_profile: source, credential_source: place } = profile;
  if (profile.mfa_serial !== undefined)
    return missing(
      `for which somebody types a code; make a profile with credential_process = aws configure export-credentials --profile ${name} --format process, and name it in the aws.profile setting`,
    );
  const { web_identity_token_file: tokenFile } = profile;
  if (tokenFile !== undefined) return planWebIdentity(name, tokenFile, profile);
  const found = source === undefined ? undefined : profileIn(files, source);
  if (source !== undefined && found === undefined)
    return missing(`with AWS profile "${source}", which there is not; correct its source_profile`);
  if (source !== undefined && source !== name && seen.includes(source))
    return missing(`with AWS profile "${source}", which needs this one; correct one of the two`);
  const by =
    source !== undefined
      ? planProfile(source, found ?? {}, { facts, files, seen: [...seen, name] })
      : place === "Environment"
        ? keysIn(facts)
        : undefined;
  if (by === undefined)
    return missing(
      "and names no source_profile; name one, or set credential_source = Environment and the keys there",
    );
  if (by.kind === "missing") return by;
  return { kind: "role", role: roleIn(name, profile), by };
}

function planSso(
  name: string,
  profile: Readonly<Record<string, string>>,
  config: Sections,
): AwsPlan {
  const { sso_session: session, sso_account_id = "", sso_role_name = "" } = profile;
  const told = session === undefined ? profile : config.get(`sso-session ${session}`);
  const region = told?.sso_region;
  const cacheKey = session ?? told?.sso_start_url;
  if (region === undefined || cacheKey === undefined)
    return {
      kind: "missing",
      why: `AWS profile "${name}" names no complete SSO session; run: aws configure sso --profile ${name}`,
    };
  const login = { profile: name, cacheKey, region };
  return { kind: "sso", login: { ...login, accountId: sso_account_id, roleName: sso_role_name } };
}

const noProfile = (name: string, { profile, variable }: AwsFacts): string =>
  profile === undefined && variable("AWS_PROFILE") === undefined
    ? `there are no AWS credentials; run: aws configure, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
    : `there is no AWS profile "${name}"; run: aws configure --profile ${name}`;
