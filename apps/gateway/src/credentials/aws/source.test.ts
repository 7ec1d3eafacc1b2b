import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startIssuer } from "../../testing/issuer.ts";
import type { Reach } from "../credential.ts";
import type { UsableAwsPlan } from "./plan.ts";
import { awsSource } from "./source.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const LOGIN = {
  profile: "work",
  cacheKey: "house",
  region: "eu-central-1",
  accountId: "111122223333",
  roleName: "Dev",
};
const CACHE = `/home/me/.aws/sso/cache/${createHash("sha1").update("house").digest("hex")}.json`;

const OPTIONS = {
  userHome: "/home/me",
  ...{ ssoEndpoint: undefined, ssoOidcEndpoint: undefined, stsEndpoint: undefined },
  region: "eu-west-1",
  commandTimeoutMs: 30_000,
};

const reach = (cached?: object): Reach => ({
  fetch,
  now: () => NOW,
  readText: (file) =>
    file.replaceAll("\\", "/") === CACHE && cached !== undefined
      ? JSON.stringify(cached)
      : undefined,
});
const sso = (ssoEndpoint?: string) =>
  awsSource(
    { kind: "sso", login: LOGIN },
    { ...OPTIONS, ssoEndpoint, ssoOidcEndpoint: ssoEndpoint },
  );
const LOGGED_IN = { accessToken: "sso-token", expiresAt: "2026-03-01T08:00:00Z" };

describe("keys by SSO", () => {
  it("are bought with the token of the last login", async () => {
    const portal = await startIssuer(() => ({
      body: {
        roleCredentials: {
          accessKeyId: "ASIA1",
          secretAccessKey: "s",
          sessionToken: "t",
          expiration: NOW + 3_600_000,
        },
      },
    }));
    const source = sso(portal.url);
    expect(source).toMatchObject({ name: 'AWS profile "work" (SSO)', account: "111122223333/Dev" });
    expect(await source.obtain(reach(LOGGED_IN))).toEqual({
      kind: "aws",
      accessKeyId: "ASIA1",
      secretAccessKey: "s",
      sessionToken: "t",
      expiresAt: NOW + 3_600_000,
    });
    expect(portal.requests).toMatchObject([
      {
        path: "/federation/credentials?role_name=Dev&account_id=111122223333",
        headers: { "x-amz-sso_bearer_token": "sso-token" },
      },
    ]);
  });

  it("are told to be missing with what to run, before and after AWS is asked", async () => {
    const why = (cached?: object, url = "http://127.0.0.1:1") =>
      sso(url)
        .obtain(reach(cached))
        .catch((error: Error) => error.message);
    const logIn = "run: aws sso login --profile work";
    expect(await why()).toBe(`nobody is logged in to AWS profile "work"; ${logIn}`);
    expect(await why({ ...LOGGED_IN, expiresAt: "2026-02-28T00:00:00UTC" })).toContain(logIn);
    expect(await why(LOGGED_IN)).toMatch(/http:\/\/127\.0\.0\.1:1, .* does not answer/);
    const refusing = await startIssuer(() => ({ status: 401, body: { message: "sso-token" } }));
    expect(await why(LOGGED_IN, refusing.url)).toBe(
      `AWS no longer takes the SSO login of profile "work"; ${logIn}`,
    );
    const forbidding = await startIssuer(() => ({ status: 403, body: "sso-token is no" }));
    expect(await why(LOGGED_IN, forbidding.url)).toBe(
      'AWS gives out no keys for role "Dev" in account 111122223333 (403); check both in AWS profile "work"',
    );
  });
});

describe("an SSO login that is about to end", () => {
  const ENDED = {
    ...{ accessToken: "old-token", expiresAt: "2026-02-28T23:00:00Z", refreshToken: "refresh-1" },
    ...{ clientId: "client", clientSecret: "client-secret", region: "eu-central-1" },
    registrationExpiresAt: "2026-05-01T00:00:00Z",
  };
  const serve = (status = 200) =>
    startIssuer(({ path }) =>
      path === "/token"
        ? { status, body: { accessToken: "new-token", expiresIn: 3600, refreshToken: "refresh-2" } }
        : { body: { roleCredentials: { accessKeyId: "ASIA2", secretAccessKey: "s" } } },
    );

  it("is renewed, and kept where AWS's program looks for it", async () => {
    const portal = await serve();
    const kept: [string, unknown][] = [];
    const keepText = (file: string, text: string) =>
      void kept.push([file.replaceAll("\\", "/"), JSON.parse(text)]);
    const keys = await sso(portal.url).obtain({ ...reach(ENDED), keepText });
    expect(keys).toMatchObject({ accessKeyId: "ASIA2" });
    expect(JSON.parse(portal.requests[0]!.body)).toEqual({
      ...{ clientId: "client", clientSecret: "client-secret" },
      ...{ grantType: "refresh_token", refreshToken: "refresh-1" },
    });
    expect(portal.requests[1]!.headers["x-amz-sso_bearer_token"]).toBe("new-token");
    const renewed = { accessToken: "new-token", refreshToken: "refresh-2" };
    expect(kept).toEqual([[CACHE, { ...ENDED, ...renewed, expiresAt: "2026-03-01T01:00:00Z" }]]);
  });

  it("has to be made again when AWS does not renew it, or it was not meant to be", async () => {
    const why = (url: string, cached: object) =>
      sso(url)
        .obtain({ ...reach(cached), keepText: () => {} })
        .catch((error: Error) => error.message);
    const refusing = await serve(400);
    const ended = 'the SSO login of AWS profile "work" has ended; run: aws sso login';
    expect(await why(refusing.url, ENDED)).toContain(ended);
    const { refreshToken: _none, ...fixed } = ENDED;
    expect(await why(refusing.url, fixed)).toContain(ended);
    expect(refusing.requests).toHaveLength(1);
  });
});

describe("keys of a role", () => {
  const role = {
    ...{ profile: "deploy", arn: "arn:aws:iam::1:role/x", sessionName: "clew" },
    ...{ region: undefined, externalId: "ext", seconds: "900" },
  };
  const by: UsableAwsPlan = {
    ...{ kind: "keys", from: 'AWS profile "default"' },
    ...{ accessKeyId: "AKIA1", secretAccessKey: "s" },
  };
  const source = (stsEndpoint: string) =>
    awsSource({ kind: "role", role, by }, { ...OPTIONS, stsEndpoint });

  it("are given to the keys of its source profile", async () => {
    const sts = await startIssuer(() => ({
      body: {
        AssumeRoleResponse: {
          AssumeRoleResult: {
            Credentials: {
              ...{ AccessKeyId: "ASIA3", SecretAccessKey: "t", SessionToken: "u" },
              Expiration: NOW / 1000 + 900,
            },
          },
        },
      },
    }));
    const used = source(sts.url);
    expect([used.name, used.account]).toEqual([
      'AWS profile "deploy" (a role, by AWS profile "default")',
      "arn:aws:iam::1:role/x",
    ]);
    expect(await used.obtain(reach())).toEqual({
      ...{ kind: "aws", accessKeyId: "ASIA3", secretAccessKey: "t", sessionToken: "u" },
      expiresAt: NOW + 900_000,
    });
    const [asked] = sts.requests;
    expect(Object.fromEntries(new URLSearchParams(asked!.body))).toEqual({
      ...{ Action: "AssumeRole", Version: "2011-06-15" },
      ...{ RoleArn: "arn:aws:iam::1:role/x", RoleSessionName: "clew" },
      ...{ ExternalId: "ext", DurationSeconds: "900" },
    });
    expect(asked!.headers).toMatchObject({
      accept: "application/json",
      authorization: expect.stringMatching(
        /Credential=AKIA1\/20260301\/eu-west-1\/sts\/aws4_request/,
      ) as string,
    });
  });

  it("are told to be refused with what to look at, and no secret", async () => {
    const sts = await startIssuer(() => ({
      status: 403,
      body: { Error: { Code: "AccessDenied", Message: "AKIA1 may not" } },
    }));
    await expect(source(sts.url).obtain(reach())).rejects.toThrow(
      'AWS does not let AWS profile "deploy" take on the role arn:aws:iam::1:role/x (AccessDenied); see what its source profile may do, and whom the role trusts',
    );
  });
});

describe("keys of a role by a token", () => {
  const role = {
    ...{ profile: undefined, arn: "arn:aws:iam::5:role/p", sessionName: "pod" },
    ...{ region: undefined, externalId: undefined, seconds: undefined },
  };
  const holding = (token: string | undefined): Reach => ({
    ...reach(),
    readText: (file) => (file === "/run/token" ? token : undefined),
  });
  const source = (stsEndpoint: string) => {
    const plan: UsableAwsPlan = { kind: "web-identity", role, tokenFile: "/run/token" };
    return awsSource(plan, { ...OPTIONS, stsEndpoint });
  };

  it("are asked for without a signature, each time with the token that is in the file then", async () => {
    const sts = await startIssuer(() => ({
      body: {
        AssumeRoleWithWebIdentityResponse: {
          AssumeRoleWithWebIdentityResult: {
            Credentials: {
              ...{ AccessKeyId: "ASIA4", SecretAccessKey: "t", SessionToken: "u" },
              Expiration: NOW / 1000 + 3600,
            },
          },
        },
      },
    }));
    const used = source(sts.url);
    expect([used.name, used.account]).toEqual([
      "the token of the environment (a role, by the file /run/token)",
      "arn:aws:iam::5:role/p",
    ]);
    for (const token of ["one", "two"]) {
      expect(await used.obtain(holding(`${token}\n`))).toEqual({
        ...{ kind: "aws", accessKeyId: "ASIA4", secretAccessKey: "t", sessionToken: "u" },
        expiresAt: NOW + 3_600_000,
      });
      const asked = sts.requests.at(-1)!;
      expect(Object.fromEntries(new URLSearchParams(asked.body))).toEqual({
        ...{ Action: "AssumeRoleWithWebIdentity", Version: "2011-06-15" },
        ...{ RoleArn: "arn:aws:iam::5:role/p", RoleSessionName: "pod", WebIdentityToken: token },
      });
      expect(asked.headers).not.toHaveProperty("authorization");
    }
  });

  it("are told to be missing with where to look, and without the token", async () => {
    const sts = await startIssuer(() => ({
      status: 400,
      body: { Error: { Code: "ExpiredTokenException", Message: "secret-token is old" } },
    }));
    const refused = source(sts.url).obtain(holding("secret-token"));
    await expect(refused).rejects.toThrow(
      "AWS does not let the token of the environment take on the role arn:aws:iam::5:role/p (ExpiredTokenException); see whom the role trusts, and whether the token is the one it wants",
    );
    await expect(source(sts.url).obtain(holding(undefined))).rejects.toThrow(
      "the file /run/token, which should hold the token for the role arn:aws:iam::5:role/p, is not there or empty; see what mounts it",
    );
  });
});

describe("keys by a program", () => {
  const printed = (told: string) => {
    const script = `console.log(${JSON.stringify(told)})`;
    const command = `"${process.execPath}" -e ${JSON.stringify(script)}`;
    const plan: UsableAwsPlan = { kind: "program", profile: "p", command };
    return awsSource(plan, OPTIONS).obtain(reach());
  };

  it("are read as AWS's programs write them", async () => {
    const told = "{Version:1}";
    await expect(printed(told)).rejects.toThrow(/"p" printed no keys; run it by hand/);
  });
});

it("keys that stand somewhere need nobody to be asked", async () => {
  const plan: UsableAwsPlan = {
    kind: "keys",
    from: "x",
    accessKeyId: "AKIA1",
    secretAccessKey: "s",
  };
  const source = awsSource(plan, OPTIONS);
  expect([source.name, source.account]).toEqual(["x", "AKIA1"]);
  expect(await source.obtain(reach())).toEqual({
    kind: "aws",
    accessKeyId: "AKIA1",
    secretAccessKey: "s",
    expiresAt: null,
  });
});
