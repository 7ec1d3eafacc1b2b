// What people, files and names can do to settings, to the log and to a terminal.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLog } from "../log/log.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

/** None of them may be taken, and none may change the file. */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["__proto__.polluted", "true"],
  ["constructor.prototype.polluted", "true"],
  ["gateway.__proto__.port", "1"],
  ["a..b", "1"],
  ["gateway.port", "99999"],
  ["gateway.port", "-1"],
  ["gateway.port", "1e3x"],
  ["gateway.bind", "0.0.0.0"],
  ["gateway.bind", "lan"],
  ["gateway.auth.token", "short"],
  ["gateway.auth.token", "has blanks in it, and more"],
  [
    "gateway.auth.tokens",
    '[{name:"a",token:"0123456789abcdef"},{name:"a",token:"0123456789abcdeg"}]',
  ],
  [
    "gateway.auth.tokens",
    '[{name:"a",token:"0123456789abcdef"},{name:"b",token:"0123456789abcdef"}]',
  ],
  ["gateway.auth.tokens", '[{name:"token",token:"0123456789abcdef"}]'],
  ["gateway.auth.tokens", '[{name:"a",token:"0123456789abcdef",scope:"root"}]'],
  ["gateway.hosts", '["evil.example/path"]'],
  ["gateway.hosts", '["two words"]'],
  ["gateway.limits.bodyBytes", "1"],
  ["gateway.limits.requestsPerMinute", "-1"],
  ["agents.list", '[{id:"../x"}]'],
  ["models.providers.x.baseUrl", "http://user:pass@127.0.0.1/v1"],
  ["models.providers.x.baseUrl", "file:///etc/passwd"],
  ["logging.level", "loud"],
  ["logging.maxFileBytes", "0"],
  ["diagnostics.otel.endpoint", "javascript:alert(1)"],
  ["diagnostics.otel.sampleRate", "2"],
];

describe("the settings", () => {
  it.each(SETTINGS)("take no %s of %s, and stay as they are", async (name, value) => {
    const home = await temporaryHome();
    const file = join(home, "clew.json");
    await writeFile(file, "{ /* mine */ gateway: { port: 0 } }");
    const { code, errors } = await clew(home, ["config", "set", name, value]);
    expect(code).not.toBe(0);
    expect(errors).toMatch(/^clew: .*\[\w+\]$/s);
    expect(errors).not.toMatch(/ZodError|\n +at /);
    expect(await readFile(file, "utf8")).toBe("{ /* mine */ gateway: { port: 0 } }");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

const NASTY = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u0085\u202eevil\u2066\r\nfake line";

describe("a name", () => {
  it("of a session that another program made steers no terminal", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    const id = "0b6cf2bc-9a4e-4a49-a5c5-0d6a3c9b0d11";
    const header = {
      ...{ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
      sessionKey: `agent:main:${NASTY}`,
    };
    const entry = {
      ...{ type: "message", id: "a1", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" },
      message: { role: "user", content: NASTY },
    };
    await writeFile(
      join(folder, `${id}.jsonl`),
      `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`,
    );
    for (const args of [["sessions", "list"], ["doctor"], ["sessions", "show", id]]) {
      const { output, errors } = await clew(home, args);
      expect(`${output}${errors}`, args.join(" ")).not.toMatch(
        /[\u001b\u0007\u0080-\u009f\u202a-\u202e\u2066-\u2069\r]/,
      );
    }
  });

  it("writes no line of its own into the log", async () => {
    const file = join(await temporaryHome(), "logs/gateway.log");
    const log = createLog({ file });
    log.warn(`session ${NASTY}`, { sessionKey: NASTY });
    log.close();
    const text = await readFile(file, "utf8");
    expect(text.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ level: "warn", sessionKey: NASTY });
  });
});
