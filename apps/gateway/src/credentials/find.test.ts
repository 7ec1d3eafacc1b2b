import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ProviderConfigSchema } from "../config/models.ts";
import { findAccess } from "./find.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "AKIA1", AWS_SECRET_ACCESS_KEY: "secret-1" };
const ADC = JSON.stringify({
  type: "authorized_user",
  client_id: "c",
  client_secret: "s",
  refresh_token: "r",
  quota_project_id: "q",
});

const access = (
  provider: string,
  settings?: object,
  variables: Record<string, string> = {},
  files: Record<string, string> = {},
) =>
  findAccess(provider, settings && ProviderConfigSchema.parse(settings), {
    ...readEnvironment({ HOME: "/home/me", ...variables }),
    readText: (file) => files[file.replaceAll("\\", "/")],
  });

describe("Amazon Bedrock", () => {
  it("is reached in a region with a key, or with an AWS login", () => {
    const region = { AWS_REGION: "eu-west-1" };
    const baseUrl = "https://bedrock-runtime.eu-west-1.amazonaws.com";
    expect(
      access("amazon-bedrock", undefined, { ...region, AWS_BEARER_TOKEN_BEDROCK: "b" }),
    ).toEqual({ baseUrl, apiKey: "b", from: "AWS_BEARER_TOKEN_BEDROCK of the environment" });
    expect(access("amazon-bedrock", undefined, { ...region, ...KEYS })).toMatchObject({
      baseUrl,
      region: "eu-west-1",
      source: { account: "AKIA1" },
      from: "AWS_ACCESS_KEY_ID of the environment",
    });
    const [config, credentials] = [
      "[profile work]\nregion = us-west-2",
      "[work]\naws_access_key_id = AKIA2\naws_secret_access_key = s",
    ];
    const files = { "/home/me/.aws/config": config, "/home/me/.aws/credentials": credentials };
    const settings = { aws: { profile: "work" } };
    const variables = { ...region, AWS_BEARER_TOKEN_BEDROCK: "b" };
    expect(access("amazon-bedrock", settings, variables, files)).toMatchObject({
      baseUrl: "https://bedrock-runtime.us-west-2.amazonaws.com",
      from: 'AWS profile "work"',
    });
  });

  it("is signed for the region of its address, and a stand-in is not signed for", () => {
    const baseUrl = "https://bedrock-runtime.ap-south-1.amazonaws.com";
    expect(access("amazon-bedrock", { baseUrl }, KEYS).region).toBe("ap-south-1");
    expect(access("amazon-bedrock", { baseUrl: "http://127.0.0.1:1" }, KEYS)).toEqual({
      baseUrl: "http://127.0.0.1:1",
      from: "nothing",
    });
    const signed = { baseUrl: "http://127.0.0.1:1", aws: { region: "eu-west-1" } };
    expect(access("house", signed, KEYS).region).toBe("eu-west-1");
  });

  it("that cannot be reached is told with what to set or run", () => {
    expect(() => access("amazon-bedrock", undefined, KEYS)).toThrow(
      /has no region: set models\.providers\.amazon-bedrock\.aws\.region, or AWS_REGION/,
    );
    expect(() => access("amazon-bedrock", undefined, { AWS_REGION: "eu-west-1" })).toThrow(
      /"amazon-bedrock" cannot sign in: there are no AWS credentials; run: aws configure/,
    );
  });
});

describe("Vertex", () => {
  const file = "/home/me/.config/gcloud/application_default_credentials.json";

  it("is reached in a project and a location with a Google login", () => {
    expect(access("google-vertex", undefined, {}, { [file]: ADC })).toMatchObject({
      baseUrl: "https://aiplatform.googleapis.com/v1/projects/q/locations/global",
      from: `Google login in ${file}`,
    });
    const variables = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "europe-west4" };
    expect(access("google-vertex", undefined, variables, { [file]: ADC }).baseUrl).toBe(
      "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4",
    );
    const settings = { google: { project: "x", metadataServer: true } };
    expect(access("google-vertex", settings)).toMatchObject({
      from: "the Google account of this machine",
    });
  });

  it("that cannot be reached is told with what to set or run", () => {
    expect(() => access("google-vertex")).toThrow(/has no project/);
    expect(() => access("google-vertex", { google: { project: "p" } })).toThrow(
      /run: gcloud auth application-default login/,
    );
  });
});

it("a program's key is for any provider, and for nobody who has another", () => {
  const apiKeyCommand = ["pass", "show", "openai"];
  expect(access("openai", { apiKeyCommand }, { OPENAI_API_KEY: "k" })).toMatchObject({
    baseUrl: "https://api.openai.com/v1",
    from: 'what the command "pass" prints',
  });
  expect(access("openai", { apiKeyCommand })).not.toHaveProperty("apiKey");
  expect(() => access("openai", { apiKeyCommand, apiKey: "k" })).toThrow(/both apiKey and apiKeyC/);
});
