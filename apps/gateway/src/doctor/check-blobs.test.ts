import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { temporaryHome } from "../testing/home.ts";
import { S3_REGION, type S3Server, startS3Server } from "../testing/s3-server.ts";
import { checkBlobs } from "./check-blobs.ts";

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
beforeEach(() => server.heal());
afterAll(() => server.stop());

const findings = (blobs: object, variables: Record<string, string> = {}) =>
  checkBlobs(
    readEnvironment({ CLEW_HOME: "/nowhere", HOME: "/nowhere", ...variables }),
    checkConfigText(JSON.stringify({ storage: { blobs } }), "clew.json"),
  );
const inBucket = () => ({
  ...{ url: server.url, bucket: server.bucket, region: S3_REGION, ...server.keys },
});

it("the doctor says nothing where large bodies are in the database", async () => {
  expect(await findings({})).toEqual([]);
});

it("the doctor puts, reads, lists and deletes an object in the bucket, and leaves nothing", async () => {
  const [found, ...others] = await findings(inBucket());
  expect(found).toMatchObject({ level: "ok", code: "blobs" });
  expect(others).toEqual([]);
  expect(server.objects.size).toBe(0);
  expect(new Set(server.requests.map((request) => request.split(" ")[0]))).toEqual(
    new Set(["PUT", "GET", "DELETE"]),
  );
});

it("the doctor uses the AWS credentials of this machine where the settings name none", async () => {
  const { accessKeyId: _id, secretAccessKey: _secret, ...place } = inBucket();
  const variables = {
    AWS_ACCESS_KEY_ID: server.keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.keys.secretAccessKey,
  };
  expect(await findings(place, variables)).toMatchObject([{ level: "ok" }]);
  const [without] = await findings(place);
  expect(without).toMatchObject({ level: "failure", code: "blobs-unusable" });
});

it("the doctor says what is not allowed, or that nobody answers, without the secret", async () => {
  for (const [method, right] of [
    ["PUT", "s3:PutObject"],
    ["GET", "s3:GetObject"],
    ["DELETE", "s3:DeleteObject"],
  ] as const) {
    server.heal();
    server.fail({ kind: "refuse", status: 403, code: "AccessDenied" }, 5, method);
    const [found] = await findings(inBucket());
    expect(found).toMatchObject({ level: "failure", code: "blobs-unusable" });
    expect(found!.text).toContain(right);
    expect(found!.text).not.toContain(server.keys.secretAccessKey);
  }
  const [away] = await findings({ ...inBucket(), url: "http://127.0.0.1:1" });
  expect(away!.text).toContain("does not answer");
});

it("the doctor looks at a folder in the same way", async () => {
  const folder = await temporaryHome();
  expect(await findings({ folder })).toMatchObject([{ level: "ok", code: "blobs" }]);
  const [missing] = await findings({ folder: join(folder, "share") });
  expect(missing).toMatchObject({ level: "failure", code: "blobs-unusable" });
});
