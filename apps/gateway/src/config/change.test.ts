import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { changingConfig } from "./change.ts";
import { loadConfig } from "./load.ts";

describe("settings that several commands change at once", () => {
  it("are all kept, and so is what is removed", async () => {
    const home = await temporaryHome();
    const file = `${home}/clew.json`;
    const first = await runClew(home, ["config", "set", "session.mainKey", "main"]);
    expect(first.code, first.errors).toBe(0);
    const commands = [
      ["config", "set", "session.historyLimit", "10"],
      ["config", "set", "gateway.watchdogSeconds", "40"],
      ["config", "set", "gateway.port", "4321"],
      ["config", "unset", "session.mainKey"],
      ["plugins", "enable", "lossless"],
      ["plugins", "enable", "lossless"],
    ];
    const ended = await Promise.all(commands.map((command) => runClew(home, command)));
    expect(ended.map(({ code, errors }) => ({ code, errors }))).toEqual(
      commands.map(() => ({ code: 0, errors: "" })),
    );
    const { raw } = await loadConfig(file);
    expect(raw).toMatchObject({
      session: { historyLimit: 10 },
      gateway: { watchdogSeconds: 40, port: 4321 },
      plugins: { entries: { lossless: { enabled: true } } },
    });
    expect(raw.session).not.toHaveProperty("mainKey");
    expect((await readdir(home)).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it("are read by each only when the one before has written", async () => {
    const file = `${await temporaryHome()}/clew.json`;
    const seen: string[] = [];
    await Promise.all(
      ["a", "b", "c"].map((name) =>
        changingConfig(file, async () => {
          seen.push(name);
          await new Promise(setImmediate);
          seen.push(name);
        }),
      ),
    );
    expect(seen.join("")).toMatch(/^(?:aa|bb|cc){3}$/);
  });
});
