import { describe, expect, it } from "vitest";
import { parseSections } from "./files.ts";
import { type AwsFacts, awsRegion, planAws } from "./plan.ts";

const CONFIG = `
# a comment
[default]
region = eu-west-1
s3 =
  max_concurrent_requests = 20
[profile  work]
sso_session = house ; behind a blank
sso_account_id = 111122223333
sso_role_name = Dev
[sso-session house]
sso_start_url = https://house.awsapps.com/start
sso_region = eu-central-1
[profile old]
sso_start_url = https://old.awsapps.com/start
sso_region = us-east-1
sso_account_id = 1
sso_role_name = R
region = us-west-2
[profile half]
sso_session = nowhere
sso_account_id = 1
sso_role_name = R
[profile printed]
credential_process = /opt/keys --for me
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = default
[profile own]
role_arn = arn:aws:iam::2:role/y
source_profile = own
external_id = 7
aws_access_key_id = AKIAOWN
aws_secret_access_key = s
[profile further]
role_arn = arn:aws:iam::3:role/z
source_profile = own
role_session_name = me
[profile circle]
role_arn = a
source_profile = circle2
[profile circle2]
role_arn = b
source_profile = circle
[profile coded]
role_arn = a
source_profile = default
mfa_serial = m
[profile pod]
role_arn = arn:aws:iam::4:role/w
web_identity_token_file = /var/token
[profile here]
role_arn = a
credential_source = Environment
[profile lone]
role_arn = a
[profile lost]
role_arn = a
source_profile = gone
[profile empty]
`;
const CREDENTIALS = `[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = a=b/c
`;

const facts = ({
  profile,
  ...variables
}: Record<string, string> & { profile?: string } = {}): AwsFacts => ({
  profile,
  variable: (name) => variables[name],
  configText: CONFIG,
  credentialsText: CREDENTIALS,
});
const plan = (options?: Parameters<typeof facts>[0]) => planAws(facts(options));

describe("AWS credentials", () => {
  it("are those of the environment before any profile, unless a setting names one", () => {
    const keys = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "s" };
    expect(plan({ ...keys, AWS_SESSION_TOKEN: "t", AWS_PROFILE: "work" })).toEqual({
      kind: "keys",
      from: "AWS_ACCESS_KEY_ID of the environment",
      accessKeyId: "AKIAENV",
      secretAccessKey: "s",
      sessionToken: "t",
    });
    expect(plan({ ...keys, profile: "default" })).toMatchObject({ accessKeyId: "AKIADEFAULT" });
  });

  it("are those of a profile, by default of the one called default", () => {
    expect(plan()).toEqual({
      kind: "keys",
      from: 'AWS profile "default"',
      accessKeyId: "AKIADEFAULT",
      secretAccessKey: "a=b/c",
    });
    expect(plan({ AWS_PROFILE: "printed" })).toEqual({
      kind: "program",
      profile: "printed",
      command: "/opt/keys --for me",
    });
  });

  it("come from SSO by session or by address", () => {
    expect(plan({ profile: "work" })).toEqual({
      kind: "sso",
      login: {
        profile: "work",
        cacheKey: "house",
        region: "eu-central-1",
        accountId: "111122223333",
        roleName: "Dev",
      },
    });
    expect(plan({ profile: "old" })).toMatchObject({
      login: { cacheKey: "https://old.awsapps.com/start", region: "us-east-1" },
    });
  });

  it("are those of a role that a profile takes on, by another one, itself, or the environment", () => {
    const none = { region: undefined, externalId: undefined, seconds: undefined };
    expect(plan({ profile: "role" })).toMatchObject({
      kind: "role",
      role: { profile: "role", arn: "arn:aws:iam::1:role/x", sessionName: "clew", ...none },
      by: { kind: "keys", accessKeyId: "AKIADEFAULT" },
    });
    const own = { kind: "role", role: { externalId: "7" }, by: { accessKeyId: "AKIAOWN" } };
    expect(plan({ profile: "own" })).toMatchObject(own);
    expect(plan({ profile: "further" })).toMatchObject({
      role: { arn: "arn:aws:iam::3:role/z", sessionName: "me" },
      by: own,
    });
    const keys = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "s" };
    expect(plan({ profile: "here", ...keys })).toMatchObject({ by: { accessKeyId: "AKIAENV" } });
  });

  it("are those of the role that a token stands for, behind keys and before any profile", () => {
    const pod = {
      AWS_WEB_IDENTITY_TOKEN_FILE: "/run/token",
      AWS_ROLE_ARN: "arn:aws:iam::5:role/p",
    };
    expect(plan(pod)).toEqual({
      kind: "web-identity",
      tokenFile: "/run/token",
      role: {
        ...{ profile: undefined, arn: "arn:aws:iam::5:role/p", sessionName: "clew" },
        ...{ region: undefined, externalId: undefined, seconds: undefined },
      },
    });
    expect(plan({ ...pod, AWS_ROLE_SESSION_NAME: "me", AWS_PROFILE: "work" })).toMatchObject({
      role: { sessionName: "me" },
    });
    const keys = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "s" };
    expect(plan({ ...pod, ...keys })).toMatchObject({ kind: "keys" });
    expect(plan({ ...pod, profile: "default" })).toMatchObject({ kind: "keys" });
    expect(plan({ profile: "pod" })).toMatchObject({
      ...{ kind: "web-identity", tokenFile: "/var/token" },
      role: { profile: "pod", arn: "arn:aws:iam::4:role/w" },
    });
    const { AWS_ROLE_ARN: _arn, ...half } = pod;
    expect(plan(half)).toMatchObject({
      kind: "missing",
      why: expect.stringMatching(/without AWS_ROLE_ARN; set the role/),
    });
  });

  it("that are missing are told with what to run", () => {
    const why = (options: Parameters<typeof facts>[0]) => {
      const planned = plan(options);
      return planned.kind === "missing" ? planned.why : planned;
    };
    expect(why({ profile: "gone" })).toMatch(/no AWS profile "gone"; run: aws configure --profile/);
    expect(why({ profile: "half" })).toMatch(/run: aws configure sso --profile half/);
    expect(why({ profile: "coded" })).toMatch(
      /somebody types a code; .*credential_process = aws configure export-credentials/,
    );
    expect(why({ profile: "lone" })).toMatch(/names no source_profile; name one/);
    expect(why({ profile: "lost" })).toMatch(/with AWS profile "gone", which there is not/);
    expect(why({ profile: "circle" })).toMatch(/with AWS profile "circle", which needs this one/);
    expect(why({ profile: "empty" })).toMatch(/neither keys nor a way to get them/);
    expect(why({ AWS_ACCESS_KEY_ID: "AKIA" })).toMatch(/only one of/);
    const nothing = planAws({ ...facts(), configText: "", credentialsText: "" });
    expect(nothing).toMatchObject({
      kind: "missing",
      why: expect.stringMatching(/run: aws configure/),
    });
  });

  it("are for the region of the profile that a setting names, else of the environment", () => {
    const region = (options?: Parameters<typeof facts>[0]) => awsRegion(facts(options));
    expect(region()).toBe("eu-west-1");
    expect(region({ AWS_DEFAULT_REGION: "us-east-2" })).toBe("us-east-2");
    expect(region({ AWS_REGION: "us-east-1", profile: "old" })).toBe("us-west-2");
    expect(region({ AWS_REGION: "us-east-1", profile: "work" })).toBe("us-east-1");
  });
});

it("settings of a file are read by section, without those nested in others", () => {
  expect(parseSections("a = 1\n[x]\r\nK=v # not this\n = 2\n[x]\nl = m").get("x")).toEqual({
    k: "v",
    l: "m",
  });
  expect(parseSections(CONFIG).get("default")).toEqual({ region: "eu-west-1", s3: "" });
});
