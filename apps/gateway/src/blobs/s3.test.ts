import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testBlobs } from "../testing/blob-rules.ts";
import { S3_REGION, type S3Fault, type S3Server, startS3Server } from "../testing/s3-server.ts";
import { type S3Options, s3Blobs } from "./s3.ts";

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
beforeEach(() => {
  server.heal();
  server.objects.clear();
  server.requests.length = 0;
});
afterAll(() => server.stop());

const open = (options: Partial<S3Options> = {}) =>
  s3Blobs({
    ...{ url: server.url, bucket: server.bucket, region: S3_REGION, prefix: "p/q/" },
    keys: async () => server.keys,
    firstWaitMs: 1,
    ...options,
  });

testBlobs("S3-compatible storage", async () => {
  server.objects.clear();
  return { blobs: open(), again: open, countOf: async () => server.objects.size };
});

describe("S3-compatible storage that fails", () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7) % 251);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const name = { agentId: "main", hash };
  const same = (found: Uint8Array | null) => found !== null && Buffer.from(found).equals(bytes);

  it.each<[string, S3Fault]>([
    ["says 500", { kind: "refuse", status: 500, code: "InternalError" }],
    ["says that it is busy", { kind: "refuse", status: 503, code: "SlowDown" }],
    ["hangs up before it stored something", { kind: "hang-up", isStored: false }],
    ["hangs up after it stored something", { kind: "hang-up", isStored: true }],
  ])("and %s twice is asked again", async (_what, fault) => {
    const blobs = open();
    server.fail(fault, 2);
    await blobs.put(name, bytes);
    expect(server.objects.size).toBe(1);
    server.fail(fault, 2);
    expect(same(await blobs.get(name))).toBe(true);
    server.fail(fault, 2);
    expect(await blobs.list("main", null)).toEqual([hash]);
    server.fail(fault, 2);
    await blobs.drop("main", [hash]);
    expect(server.objects.size).toBe(0);
  });

  it("in the middle of an object goes on behind what came", async () => {
    const blobs = open();
    await blobs.put(name, bytes);
    server.fail({ kind: "cut", afterBytes: 50_000 }, 2);
    expect(same(await blobs.get(name))).toBe(true);
    server.fail({ kind: "cut", afterBytes: 10 });
    const part = await blobs.get(name, [1000, 3000]);
    expect(part).toEqual(bytes.slice(1000, 3000));
  });

  it("by being slow is not waited for", async () => {
    server.fail({ kind: "slow", ms: 2000 }, 10);
    const blobs = open({ timeoutMs: 50 });
    await expect(blobs.get(name)).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("does not answer (in time)"),
    });
  });

  it("by never answering is given up after all attempts together took their time", async () => {
    server.fail({ kind: "slow", ms: 3000 }, 10);
    const blobs = open({ timeoutMs: 200 });
    await expect(blobs.put({ agentId: "main", hash }, bytes.subarray(0, 100))).rejects.toThrow(
      "does not answer (in time)",
    );
    // One attempt may hear nothing for half of it.
    expect(server.requests.length).toBeLessThan(4);
  });

  it("by sending a byte now and then is given up, too", async () => {
    const blobs = open({ timeoutMs: 300 });
    await blobs.put(name, bytes);
    server.fail({ kind: "trickle", everyMs: 20 }, 10);
    await expect(blobs.get(name)).rejects.toThrow("does not answer (in time)");
    expect(server.requests.filter((request) => request.startsWith("GET")).length).toBeLessThan(3);
  });

  it.each<[string, Partial<S3Options>, S3Fault | undefined, RegExp]>([
    [
      "forbids it",
      {},
      { kind: "refuse", status: 403, code: "AccessDenied" },
      /may not store objects \(403 AccessDenied\); grant them s3:PutObject/,
    ],
    ["has no such bucket", { bucket: "other" }, undefined, /There is no bucket "other" at http/],
    [
      "knows other keys",
      { keys: async () => ({ accessKeyId: "AKIATEST", secretAccessKey: "another" }) },
      undefined,
      /keys .* are wrong \(403 SignatureDoesNotMatch\)/,
    ],
    ["is in another region", { region: "us-east-1" }, undefined, /storage\.blobs\.region/],
    ["is not there", { url: "http://127.0.0.1:1" }, undefined, /does not answer/],
    [
      "stays busy",
      {},
      { kind: "refuse", status: 503, code: "SlowDown" },
      /did not store an object \(503 SlowDown\)/,
    ],
  ])("as it %s says so in a sentence without secrets", async (_what, options, fault, sentence) => {
    if (fault !== undefined) server.fail(fault, 10);
    const failed = await open(options)
      .put(name, bytes)
      .then(() => undefined)
      .catch((error: Error & { code: string }) => error);
    expect(failed).toMatchObject({ code: "STORAGE_FAILED" });
    expect(failed?.message).toMatch(sentence);
    expect(failed?.message).not.toContain(server.keys.secretAccessKey);
    expect(server.objects.size).toBe(0);
  });
});
