import { expect, it } from "vitest";
import { secretsIn } from "./secret-names.ts";

const secretsOf = (url: string) => secretsIn({ storage: { url } }, { variable: () => undefined });

it("the user of a database is no secret, and its password is one, also in an address with a slip", () => {
  expect(secretsOf("postgres://postgres@127.0.0.1/clew")).toEqual([]);
  for (const url of ["postgres://postgres:S3cr3tPw@h/clew", " postgres://postgres:S3cr3tPw@h/clew"])
    expect(secretsOf(url).sort()).toEqual(["S3cr3tPw", "postgres:S3cr3tPw"]);
  expect(secretsOf("postgres:S3cr3tPw@h/clew")).toEqual(["S3cr3tPw"]);
});
