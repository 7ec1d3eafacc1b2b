import { createVerify, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startIssuer } from "../../testing/issuer.ts";
import type { Reach } from "../credential.ts";
import { type GoogleFacts, planGoogle } from "./plan.ts";
import { googleSource } from "./source.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const ACCOUNT = {
  type: "service_account",
  project_id: "p",
  client_email: "bot@p.iam.gserviceaccount.com",
  private_key: privateKey,
  token_uri: "https://oauth2.googleapis.com/token",
};
const PERSON = {
  type: "authorized_user",
  client_id: "c",
  client_secret: "client-secret",
  refresh_token: "refresh-secret",
  quota_project_id: "q",
};
const FEDERATED = {
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/g",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: "https://sts.googleapis.com/v1/token",
  service_account_impersonation_url:
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/bot:generateAccessToken",
  credential_source: {
    file: "/token.json",
    format: { type: "json", subject_token_field_name: "id_token" },
  },
};
const reach: Reach = { fetch, now: () => NOW, readText: () => undefined };

function plan(files: Record<string, unknown>, facts: Partial<GoogleFacts> = {}) {
  return planGoogle({
    file: undefined,
    asksMachine: false,
    variable: () => undefined,
    userHome: "/home/me",
    readText: (file) => {
      const told = files[file.replaceAll("\\", "/")];
      return told === undefined ? undefined : JSON.stringify(told);
    },
    ...facts,
  });
}

function source(told: ReturnType<typeof plan>, tokenEndpoint?: string, metadataHost = "") {
  if (told.kind === "missing") throw new Error(told.why);
  return googleSource(told, { tokenEndpoint, metadataHost });
}

const USUAL = "/home/me/.config/gcloud/application_default_credentials.json";

describe("Google's default credentials", () => {
  it("are in the file a setting names, a variable names, or in the usual place", () => {
    const files = { "/a": ACCOUNT, "/b": PERSON, [USUAL]: PERSON };
    const variable = (name: string) =>
      name === "GOOGLE_APPLICATION_CREDENTIALS" ? "/b" : undefined;
    expect(plan(files, { file: "/a", variable })).toMatchObject({ file: "/a", project: "p" });
    expect(plan(files, { variable })).toMatchObject({ kind: "person", file: "/b", project: "q" });
    const folder = (name: string) =>
      name === "CLOUDSDK_CONFIG" ? "/home/me/.config/gcloud" : undefined;
    expect(plan(files, { variable: folder })).toMatchObject({ kind: "person" });
  });

  it("are those of the machine only when it may be asked", () => {
    expect(plan({})).toMatchObject({
      kind: "missing",
      why: expect.stringMatching(/run: gcloud auth application-default login/),
    });
    expect(plan({}, { asksMachine: true })).toEqual({ kind: "machine" });
  });

  it("that cannot be used are told with what to do", () => {
    const why = (file: unknown) => {
      const told = plan(file === undefined ? {} : { "/a": file }, { file: "/a" });
      return told.kind === "missing" ? told.why : told;
    };
    expect(why(undefined)).toMatch(/the file \/a, .* cannot be read/);
    expect(why({ type: "authorized_user", client_id: "c" })).toMatch(/no complete Google cred/);
    expect(why({ type: "external_account" })).toMatch(/of type "external_account".*apiKeyCommand/);
    const elsewhere = { ...FEDERATED, token_url: "https://sts.example.com/v1/token" };
    expect(why(elsewhere)).toMatch(/of type "external_account".*apiKeyCommand/);
  });
});

describe("a token of Google", () => {
  it("is given to a service account that signs its claim", async () => {
    const issuer = await startIssuer(({ body }) => {
      const form = new URLSearchParams(body);
      const [head = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
      const isSigned = createVerify("RSA-SHA256")
        .update(`${head}.${claims}`)
        .verify(publicKey, signature, "base64url");
      const told = JSON.parse(Buffer.from(claims, "base64url").toString()) as object;
      return isSigned && form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer"
        ? { body: { access_token: "ya29.x", expires_in: 3599, told } }
        : { status: 400, body: { error: "invalid_grant" } };
    });
    const used = source(plan({ "/a": ACCOUNT }, { file: "/a" }), issuer.url);
    expect(used.name).toBe("Google service account bot@p.iam.gserviceaccount.com");
    expect(await used.obtain(reach)).toEqual({
      kind: "key",
      key: "ya29.x",
      expiresAt: NOW + 3_599_000,
    });
    const form = new URLSearchParams(issuer.requests[0]!.body);
    const claims = form.get("assertion")!.split(".")[1]!;
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
      iss: "bot@p.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: issuer.url,
      iat: NOW / 1000,
      exp: NOW / 1000 + 3600,
    });
  });

  it("is given to a person's login, as long as Google takes it", async () => {
    let takes = true;
    const issuer = await startIssuer(() =>
      takes
        ? { body: { access_token: "ya29.y", expires_in: 60 } }
        : { status: 400, body: { error: "invalid_grant", error_description: "refresh-secret" } },
    );
    const used = source(plan({ "/b": PERSON }, { file: "/b" }), issuer.url);
    expect(await used.obtain(reach)).toMatchObject({ key: "ya29.y", expiresAt: NOW + 60_000 });
    expect(Object.fromEntries(new URLSearchParams(issuer.requests[0]!.body))).toEqual({
      grant_type: "refresh_token",
      client_id: "c",
      client_secret: "client-secret",
      refresh_token: "refresh-secret",
    });
    takes = false;
    await expect(used.obtain(reach)).rejects.toThrow(
      "Google no longer takes the login in /b (invalid_grant); run: gcloud auth application-default login",
    );
  });

  it("is given for a token of somebody else, and to act for a service account", async () => {
    const issuer = await startIssuer(({ path, headers }) =>
      path.endsWith(":generateAccessToken")
        ? headers.authorization === "Bearer ya29.traded"
          ? { body: { accessToken: "ya29.bot", expireTime: "2026-03-01T01:00:00Z" } }
          : { status: 403, body: {} }
        : { body: { access_token: "ya29.traded", expires_in: 3600 } },
    );
    const used = source(plan({ "/c": FEDERATED }, { file: "/c" }), issuer.url);
    expect(used.name).toBe("federated Google login in /c");
    const readText = () => JSON.stringify({ id_token: "eyJ.of.github" });
    expect(await used.obtain({ ...reach, readText })).toEqual({
      ...{ kind: "key", key: "ya29.bot" },
      expiresAt: NOW + 3_600_000,
    });
    expect(Object.fromEntries(new URLSearchParams(issuer.requests[0]!.body))).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      audience: FEDERATED.audience,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
      subject_token: "eyJ.of.github",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    });
    await expect(used.obtain(reach)).rejects.toThrow(
      "there is no token at /token.json, where /c says it is; run what puts one there",
    );
  });

  it("is given for a token that a server gives out, or refused in words without it", async () => {
    let takes = true;
    const issuer = await startIssuer(({ path, headers }) =>
      path === "/mine"
        ? { body: headers["x-mine"] === "1" ? "eyJ.of.mine\n" : "" }
        : takes
          ? { body: { access_token: "ya29.traded", expires_in: 60 } }
          : { status: 400, body: { error: "invalid_grant", error_description: "eyJ.of.mine" } },
    );
    const { service_account_impersonation_url: _none, ...direct } = FEDERATED;
    const told = {
      ...direct,
      credential_source: { url: `${issuer.url}/mine`, headers: { "x-mine": "1" } },
    };
    const used = source(plan({ "/c": told }, { file: "/c" }), `${issuer.url}/v1/token`);
    expect(await used.obtain(reach)).toMatchObject({ key: "ya29.traded", expiresAt: NOW + 60_000 });
    takes = false;
    await expect(used.obtain(reach)).rejects.toThrow(
      "Google does not take the token that /c speaks of (invalid_grant); see whether its pool, provider and service account still exist",
    );
  });

  it("is given to a machine by its own server", async () => {
    const server = await startIssuer(({ headers }) =>
      headers["metadata-flavor"] === "Google"
        ? { body: { access_token: "ya29.z", expires_in: 60 } }
        : { status: 403, body: {} },
    );
    const used = source({ kind: "machine" }, undefined, new URL(server.url).host);
    expect(await used.obtain(reach)).toMatchObject({ key: "ya29.z" });
    expect(server.requests[0]?.path).toBe(
      "/computeMetadata/v1/instance/service-accounts/default/token",
    );
  });

  it("is not got with a key that cannot be read, nor from a server that says something else", async () => {
    const broken = plan({ "/a": { ...ACCOUNT, private_key: "no key" } }, { file: "/a" });
    await expect(source(broken, "http://127.0.0.1:1").obtain(reach)).rejects.toThrow(
      "the private key in /a cannot be read; download the file again",
    );
    const issuer = await startIssuer(() => ({ body: "<html>" }));
    await expect(
      source(plan({ "/a": ACCOUNT }, { file: "/a" }), issuer.url).obtain(reach),
    ).rejects.toThrow(/^http:\S+, which gives out its credentials, answered without any/);
  });
});
