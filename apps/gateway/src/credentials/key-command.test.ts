import { describe, expect, it } from "vitest";
import type { Reach } from "./credential.ts";
import { keyFromCommand, planKey } from "./key-command.ts";

const reach: Reach = { fetch, now: () => 1000, readText: () => undefined };
const printing = (script: string, timeoutMs = 30_000) =>
  keyFromCommand([process.execPath, "-e", script], timeoutMs).obtain(reach);
const jwt = (claims: object) => `x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.y`;

describe("what a program printed", () => {
  it("is a token, whose end it may tell", () => {
    expect(planKey("abc\n", 1000)).toEqual({ kind: "key", key: "abc", expiresAt: 301_000 });
    expect(planKey('{"token":"abc","expiresAt":"1970-01-01T00:01:00Z"}', 0)).toMatchObject({
      key: "abc",
      expiresAt: 60_000,
    });
    expect(planKey('{"access_token":"abc","expires_in":60}', 1000)?.expiresAt).toBe(61_000);
    expect(planKey(jwt({ exp: 5000 }), 0)?.expiresAt).toBe(5_000_000);
  });

  it("is none when it is blank, several words, or JSON without one", () => {
    for (const text of ["", " \n", "two words", "one\ntwo", "{}", '{"token":""}', "{broken"])
      expect(planKey(text, 0)).toBeUndefined();
  });
});

describe("a program that prints a key", () => {
  it("is run without a shell, or by one where it is a line", async () => {
    expect(await printing("console.log('tok$HOME')")).toMatchObject({ key: "tok$HOME" });
    const line = `"${process.execPath}" -e "console.log(40 + 2)"`;
    expect(await keyFromCommand(line, 30_000).obtain(reach)).toMatchObject({ key: "42" });
  });

  it("that fails is told by how it ended, never by what it said", async () => {
    const failing = "console.log('secret-1'); console.error('secret-2'); process.exit(3)";
    const message = await printing(failing).catch((error: Error) => error.message);
    expect(message).toMatch(/ended with exit code 3; run it by hand to see why/);
    expect(message).not.toContain("secret");
    await expect(printing("console.log('a b')")).rejects.toThrow(/printed no token/);
    await expect(keyFromCommand(["no-such-program-x"], 30_000).obtain(reach)).rejects.toThrow(
      /"no-such-program-x" cannot be started/,
    );
    await expect(printing("for (;;) console.log('x'.repeat(1e5))")).rejects.toThrow(
      /printed far more than a credential/,
    );
  });

  it("that is the key itself is not told", async () => {
    const line = "sk-proj-Abcdefghijklmnop1234567890";
    const source = keyFromCommand(line, 30_000);
    expect(source.name).toBe('what the command "sk-…" prints');
    await expect(source.obtain(reach)).rejects.toThrow(/^the command "sk-…" ended with exit code/);
    await expect(keyFromCommand([line], 30_000).obtain(reach)).rejects.toThrow(
      /^the command "sk-…" cannot be started/,
    );
  });

  it("that does not end is ended, with what it started", async () => {
    await expect(printing("setInterval(() => {}, 1000)", 200)).rejects.toThrow(
      /took longer than 0.2 s/,
    );
  });
});
