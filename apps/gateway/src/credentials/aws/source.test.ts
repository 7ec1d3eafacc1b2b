import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startIssuer } from "../../testing/issuer.ts";
import type { Reach } from "../credential.ts";
import type { AwsPlan } from "./plan.ts";
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
    { userHome: "/home/me", ssoEndpoint, commandTimeoutMs: 30_000 },
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

describe("keys by a program", () => {
  const printed = (told: string) => {
    const script = `console.log(${JSON.stringify(told)})`;
    const command = `"${process.execPath}" -e ${JSON.stringify(script)}`;
    const plan: AwsPlan = { kind: "program", profile: "p", command };
    const options = { userHome: "", ssoEndpoint: undefined, commandTimeoutMs: 30_000 };
    return awsSource(plan, options).obtain(reach());
  };

  it("are read as AWS's programs write them", async () => {
    const told = "{Version:1}";
    await expect(printed(told)).rejects.toThrow(/"p" printed no keys; run it by hand/);
  });
});

it("keys that stand somewhere need nobody to be asked", async () => {
  const plan: AwsPlan = { kind: "keys", from: "x", accessKeyId: "AKIA1", secretAccessKey: "s" };
  const options = { userHome: "", ssoEndpoint: undefined, commandTimeoutMs: 1 };
  const source = awsSource(plan, options);
  expect([source.name, source.account]).toEqual(["x", "AKIA1"]);
  expect(await source.obtain(reach())).toEqual({
    kind: "aws",
    accessKeyId: "AKIA1",
    secretAccessKey: "s",
    expiresAt: null,
  });
});
