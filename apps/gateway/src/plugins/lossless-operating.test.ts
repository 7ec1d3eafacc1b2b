// What an operator asks of the lossless engine's databases.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew as runIn } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { startPluginGateway, startServedGateway } from "../testing/plugins.ts";

const AGENTS = {
  agents: { list: [{ id: "main", default: true }, { id: "second" }] },
  plugins: { slots: { contextEngine: "lossless" } },
};

const databaseOf = (home: string, agent: string) =>
  join(home, "agents", agent, "clew-lossless/lossless.db");

/** A home in which something was said to the main agent, and nothing runs. */
async function homeWithHistory() {
  const home = await homeWithOwnPort();
  const clew = (...args: string[]) => runIn(home, args);
  await clew("config", "set", "plugins.slots.contextEngine", "lossless");
  const { say, stop } = await startPluginGateway(AGENTS, home);
  await say("The key hangs behind the barometer.");
  await stop();
  return { home, clew };
}

function spoil(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.alloc(8_192, "no database "));
}

describe("/lossless in a session in which nothing was said since the start", () => {
  it("says what is kept, checks it and copies it", async () => {
    const { home, clew } = await homeWithHistory();
    const status = await clew("chat", "/lossless");
    expect(status).toMatchObject({ code: 0 });
    expect(status.output).toMatch(/2 messages of 1 conversation, .*lossless\.db/);
    expect(status.output).toContain("This session: 2 messages of 1 conversation.");
    expect((await clew("chat", "/lossless doctor")).output).toContain(
      "2 messages looked at, all can be read",
    );
    expect((await clew("chat", "/lossless backup")).output).toMatch(/Copied to .*\.copy-/);
    expect(readdirSync(dirname(databaseOf(home, "main"))).join()).toContain(".copy-");
  });

  it("says in one sentence why a database cannot be read, and ends with a failure", async () => {
    const { home, clew } = await homeWithHistory();
    spoil(databaseOf(home, "main"));
    for (const word of ["status", "doctor", "backup"]) {
      const { code, output, errors } = await clew("chat", `/lossless ${word}`);
      expect(`${output}${errors}`).toMatch(
        /\/lossless of plugin "lossless" failed: The lossless engine cannot use its database .*: it is no database; move it away, or name another file\.\s*$/,
      );
      expect(code).toBe(1);
    }
  });

  it("says that there is nothing yet, and makes no database", async () => {
    const home = await homeWithOwnPort();
    const { gateway } = await startPluginGateway(AGENTS, home);
    const answer = await gateway.command("agent:second:main", {
      ...{ kind: "command", name: "lossless", args: "doctor" },
    });
    expect(answer).toMatchObject({
      ok: true,
      text: `Nothing is kept yet: there is no database ${databaseOf(home, "second")}.`,
    });
    expect(existsSync(databaseOf(home, "second"))).toBe(false);
  });
});

describe("clew doctor", () => {
  it.each([
    ["while nothing runs", false],
    ["of a running gateway", true],
  ])("tells of every agent's store, %s, and makes no database", async (_, isRunning) => {
    const home = await homeWithOwnPort();
    const clew = (...args: string[]) => runIn(home, args);
    await clew("config", "set", "plugins.slots.contextEngine", "lossless");
    mkdirSync(join(home, "agents/second"), { recursive: true });
    spoil(databaseOf(home, "third"));
    if (isRunning) await startServedGateway(AGENTS, home);
    const { code, output } = await clew("doctor");
    expect(output).toMatch(/^ok +engine store: nothing is kept yet: /m);
    expect(output).toMatch(/^ok +engine store of agent second: nothing is kept yet: /m);
    expect(output).toMatch(
      /^FAILURE +engine store of agent third: .*it is no database; .*; keep a copy of the store/m,
    );
    expect(code).toBe(1);
    for (const agent of ["main", "second"]) expect(existsSync(databaseOf(home, agent))).toBe(false);
  });
});
