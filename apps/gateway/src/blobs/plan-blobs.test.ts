// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings name variables that way.
import { describe, expect, it } from "vitest";
import { checkConfigText } from "../config/load.ts";
import { secretsIn } from "../config/secret-names.ts";
import { planBlobs } from "./plan-blobs.ts";

const configOf = (blobs: object) =>
  checkConfigText(JSON.stringify({ storage: { blobs } }), "clew.json").config;
const plan = (blobs: object, variables: Record<string, string> = {}, region?: string) =>
  planBlobs(configOf(blobs), { home: "/home", variable: (name) => variables[name] }, region);

describe("where large bodies are kept", () => {
  it("is the database, unless the settings say otherwise", () => {
    expect(plan({})).toEqual({ kind: "none" });
  });

  it("is a folder, below the home unless it is a whole path", () => {
    expect(plan({ folder: "/mnt/share" })).toEqual({
      ...{ kind: "folder", folder: "/mnt/share", prefix: "" },
    });
    expect(plan({ folder: "large", prefix: "/clew/" })).toEqual({
      ...{ kind: "folder", folder: "/home/large", prefix: "clew/" },
    });
  });

  it("is a bucket of Amazon's, or of another address, with keys of the settings or the machine's", () => {
    expect(plan({ bucket: "clew-large" }, {}, "eu-west-1")).toEqual({
      ...{ kind: "s3", bucket: "clew-large", region: "eu-west-1", prefix: "", keys: undefined },
      url: "https://s3.eu-west-1.amazonaws.com",
    });
    const keys = { accessKeyId: "${ID}", secretAccessKey: "${SECRET}" };
    const own = { url: "http://minio:9000/", bucket: "clew-large", region: "here", ...keys };
    const variables = { ID: "AKIA1", SECRET: "hush-hush" };
    expect(plan(own, variables)).toMatchObject({
      ...{ url: "http://minio:9000", region: "here" },
      keys: { accessKeyId: "AKIA1", secretAccessKey: "hush-hush" },
    });
    const environment = { variable: (name: string) => variables[name as keyof typeof variables] };
    expect(secretsIn(configOf(own), environment)).toEqual(["hush-hush"]);
  });

  it.each([
    ["both are named", { folder: "/a", bucket: "clew-large" }, /a folder and also bucket/],
    ["no bucket is named", { url: "http://minio:9000" }, /set storage\.blobs\.bucket/],
    ["a key is missing", { bucket: "clew-large", accessKeyId: "A" }, /set both, or neither/],
    [
      "a variable is not set",
      { bucket: "clew-large", accessKeyId: "A", secretAccessKey: "${SECRET}" },
      /storage\.blobs\.secretAccessKey names SECRET, which is not set/,
    ],
  ])("is refused in one sentence where %s", (_why, blobs, sentence) => {
    const { kind, problems } = plan(blobs) as { kind: string; problems: string[] };
    expect(kind).toBe("refused");
    expect(problems).toEqual([expect.stringMatching(sentence)]);
  });
});
