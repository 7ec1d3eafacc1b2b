import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { planCopy } from "./plan-copy.ts";

const plan = (to: string, from?: string) => planCopy({ to, from, home: "/home" });

describe("a copy", () => {
  it("goes from the files of the home into the database, and back", () => {
    expect(plan("postgres")).toEqual({ kind: "in", home: "/home", url: undefined });
    expect(plan("files")).toEqual({ kind: "out", home: "/home", url: undefined });
    expect(plan("/other", "postgres://db/x")).toEqual({
      ...{ kind: "out", home: "/other", url: "postgres://db/x" },
    });
  });

  it("with both ends of one kind is refused", () => {
    expect(plan("files", "/other").kind).toBe("refused");
    expect(plan("postgres", "postgres://db/x").kind).toBe("refused");
  });

  it.each(["nowhere://x", "mysql://db/x", "s3://bucket"])(
    "to %s is no copy into a folder of that name",
    (address) => {
      const scheme = address.slice(0, address.indexOf("//") + 2);
      const refused = plan(address);
      expect(refused.kind === "refused" && refused.problem).toContain(scheme);
      expect(plan("files", address).kind).toBe("refused");
    },
  );

  it.each([
    "host=127.0.0.1 password='S3cr3t word'",
    " postgres://ann:S3cr3t@127.0.0.1/clew",
    "ann:S3cr3t@127.0.0.1/clew",
    "PGPASSWORD=S3cr3t postgres://ann@127.0.0.1/clew",
  ])("to an address that is written otherwise, %s, is refused without its password", (address) => {
    for (const refused of [plan("files", address), plan(address)]) {
      expect(refused.kind === "refused" && refused.problem).toMatch(/write it as postgres:\/\//);
      expect(JSON.stringify(refused)).not.toContain("S3cr3t");
    }
  });

  it.each(["mysql", "Postgres", "file", "S3:bucket"])(
    "to %s makes no folder of that name, unless it is written as a path",
    (word) => {
      const refused = plan(word);
      expect(refused.kind === "refused" && refused.problem).toContain(`./${word}`);
      expect(plan("postgres", word).kind).toBe("refused");
      expect(plan(`./${word}`)).toMatchObject({ kind: "out", home: resolve(word) });
    },
  );

  it.each([".", "..", "../a", "a/b", "/a"])("to %s is one to a folder", (path) => {
    expect(plan(path)).toMatchObject({ kind: "out", home: resolve(path) });
  });
});
