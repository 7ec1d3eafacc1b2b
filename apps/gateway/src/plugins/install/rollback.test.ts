import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkConfigText } from "../../config/load.ts";
import { claimHome } from "../../home/claim.ts";
import { temporaryHome } from "../../testing/home.ts";
import { engineCode, startPluginGateway, writePlugin } from "../../testing/plugins.ts";
import { readRecords } from "../find/records.ts";
import { type InstallPlace, installPlugin } from "./install.ts";
import { withPluginsLock } from "./lock.ts";
import { planNamedData } from "./plugin-data.ts";
import { beginRollback, planRollback, readKept } from "./previous.ts";
import { rollbackPlugin } from "./rollback.ts";
import { uninstallPlugin } from "./uninstall.ts";
import { updatePlugins } from "./update.ts";

interface Opened extends InstallPlace {
  /** Writes the plugin's source in this version. */
  offer(version: string, code?: string): void;
  /** A file of its own folder, and one in the agent's. */
  data: { own: string; ofAgent: string };
}

/** With version 1.0.0 installed, which has data. */
async function openPlace(): Promise<Opened> {
  const scratch = await temporaryHome();
  const home = join(scratch, "home");
  const place = { home, configFile: join(home, "clew.json"), cwd: scratch };
  const data = {
    own: join(home, "plugin-data/small/.openclaw/notes.txt"),
    ofAgent: join(home, "agents/main/small-data/state.txt"),
  };
  const manifest = {
    backupResources: [{ disposition: "include", scope: "agent", relativePath: "small-data" }],
  };
  const offer = (version: string, code?: string) =>
    void writePlugin(join(scratch, "small"), {
      ...{ manifest, packageJson: { version } },
      ...(code !== undefined && { code }),
    });
  offer("1.0.0");
  for (const file of Object.values(data)) write(file, "of 1.0.0");
  await installPlugin({ spec: "./small" }, place);
  return { ...place, offer, data };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const told = ({ data }: Opened) =>
  [data.own, data.ofAgent].map((file) => readFileSync(file, "utf8"));
const versionIn = ({ home }: Opened) => {
  const file = join(home, "plugins/small/package.json");
  return [
    readRecords(home).plugins.small!.version,
    (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version,
  ];
};

/** Updated to 2.0.0, which has written since. */
async function openUpdated(): Promise<Opened> {
  const place = await openPlace();
  place.offer("2.0.0");
  await updatePlugins(["small"], place);
  for (const file of Object.values(place.data)) write(file, "of 2.0.0");
  return place;
}

const storing = (methods: string) => `import { appendFileSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
const folder = homedir() + "/.openclaw";
const store = ({ role, content }) => {
  mkdirSync(folder, { recursive: true });
  if (role === "user")
    appendFileSync(folder + "/notes.txt", (typeof content === "string" ? content : content[0].text) + "\\n");
};
${engineCode("small", methods)}`;
const INGESTS = storing(
  "ingest: async ({ message }) => { store(message); return { ingested: true }; },",
);
const COMMITS = storing(`info: { id: "small", name: "small", transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    } },
    commitTurn: async ({ messages }) => { messages.forEach(store); return { status: "committed" }; },`);

describe("a rollback", () => {
  it("brings back the version before an update with the data of then, and another one forward", async () => {
    const place = await openUpdated();
    const { version, notes } = await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(version).toBe("1.0.0");
    expect(notes[0]).toMatch(/^small: 2\.0\.0 -> 1\.0\.0, as it was until 20/);
    expect([versionIn(place), told(place)]).toEqual([
      ["1.0.0", "1.0.0"],
      ["of 1.0.0", "of 1.0.0"],
    ]);
    write(place.data.own, "later");
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect([versionIn(place), told(place)]).toEqual([
      ["2.0.0", "2.0.0"],
      ["of 2.0.0", "of 2.0.0"],
    ]);
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(told(place)).toEqual(["later", "of 1.0.0"]);
  });

  it.each([
    ["ingests messages", INGESTS],
    ["commits turns", COMMITS],
  ])("offers what its engine took since again, where it %s", async (_what, code) => {
    const place = await openPlace();
    const texts = () => [...new Set(readFileSync(place.data.own, "utf8").trim().split("\n"))];
    place.offer("1.1.0", code);
    await updatePlugins(["small"], place);
    write(place.data.own, "");
    const say = async (...said: string[]) => {
      const { raw } = checkConfigText(readFileSync(place.configFile, "utf8"), place.configFile);
      const plugins = { ...(raw.plugins as object), slots: { contextEngine: "small" } };
      const running = await startPluginGateway({ ...raw, plugins }, place.home);
      for (const text of said) expect((await running.say(text)).report.engine.ran).toBe("small");
      await running.stop();
    };
    await say("alpha");
    place.offer("1.2.0", `${code}// newer`);
    await updatePlugins(["small"], place);
    await say("bravo");
    expect(texts()).toEqual(["alpha", "bravo"]);
    const { notes } = await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(notes.at(-1)).toBe(
      "What its engine took since (2 messages of 1 session) is offered to it again at the next turn there.",
    );
    expect(texts()).toEqual(["alpha"]);
    await say("charlie");
    expect(texts()).toEqual(["alpha", "bravo", "charlie"]);
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    await say("delta");
    expect(texts()).toEqual(["alpha", "bravo", "charlie", "delta"]);
  });

  it("of the code alone leaves the data", async () => {
    const place = await openUpdated();
    await rollbackPlugin({ pluginId: "small", withData: false }, place);
    expect([versionIn(place), told(place)]).toEqual([
      ["1.0.0", "1.0.0"],
      ["of 2.0.0", "of 2.0.0"],
    ]);
  });

  it("also follows an install that replaced another", async () => {
    const place = await openPlace();
    place.offer("2.0.0");
    const { notes } = await installPlugin({ spec: "./small", force: true }, place);
    expect(notes.at(-1)).toMatch(
      /^To go back to 1\.0\.0, with its data of now \(1 KiB\): clew plugins rollback small$/,
    );
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(versionIn(place)).toEqual(["1.0.0", "1.0.0"]);
  });

  it("of data waits for nobody: a gateway that may have it open is a reason to refuse", async () => {
    const place = await openUpdated();
    const claim = await claimHome(place.home);
    onTestFinished(() => claim.release());
    const attempt = rollbackPlugin({ pluginId: "small", withData: true }, place);
    await expect(attempt).rejects.toThrow(/while a gateway may have it open\. .*add --no-data\.$/);
    expect([versionIn(place), told(place)]).toEqual([
      ["2.0.0", "2.0.0"],
      ["of 2.0.0", "of 2.0.0"],
    ]);
    await rollbackPlugin({ pluginId: "small", withData: false }, place);
    expect(versionIn(place)).toEqual(["1.0.0", "1.0.0"]);
  });

  it("still finds the version before when an update found nothing newer", async () => {
    const place = await openUpdated();
    const again = await updatePlugins([], place);
    expect(again).toEqual([
      {
        ...{ pluginId: "small", changed: false },
        note: `small 2.0.0 is up to date: ${join(place.cwd, "small")} holds the same files.`,
      },
    ]);
    writeFileSync(join(place.home, "plugins/small/cache.txt"), "written by the plugin itself");
    expect((await updatePlugins(["small"], place))[0]!.changed).toBe(false);
    const { notes } = await installPlugin({ spec: "./small", force: true }, place);
    expect(notes).toEqual([]);
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect([versionIn(place), told(place)]).toEqual([
      ["1.0.0", "1.0.0"],
      ["of 1.0.0", "of 1.0.0"],
    ]);
    expect((await updatePlugins([], place))[0]!.note).toMatch(/^small: 1\.0\.0 -> 2\.0\.0\./);
  });

  it("is possible to other files of one version; an older one is no update", async () => {
    const place = await openUpdated();
    place.offer("1.5.0");
    expect(await updatePlugins([], place)).toMatchObject([
      {
        changed: false,
        note: expect.stringMatching(/^small 1\.5\.0 is what .* and 2\.0\.0 is installed, which is/),
      },
    ]);
    expect(readKept(place.home, "small")!.record.version).toBe("1.0.0");
    place.offer("2.0.0", "export default () => { globalThis.smallRan = true; };");
    const [report] = await updatePlugins([], place);
    expect(report!.note).toMatch(
      /^small 2\.0\.0 has other files than before\. To go back to 2\.0\.0, .*rollback small$/,
    );
    expect(readKept(place.home, "small")!.record.version).toBe("2.0.0");
  });

  it("of a plugin that an older Clew installed compares what is there", async () => {
    const place = await openUpdated();
    const file = join(place.home, "plugins/installs.json");
    const records = readRecords(place.home);
    delete records.plugins.small!.contents;
    writeFileSync(file, JSON.stringify(records));
    expect((await updatePlugins([], place))[0]!.changed).toBe(false);
  });

  it("of what is no plugin but a word of JavaScript says that it was not installed", async () => {
    const { home, configFile, cwd } = await openPlace();
    const place = { home, configFile, cwd };
    for (const pluginId of ["constructor", "toString"]) {
      const told = /was not installed by clew/;
      await expect(rollbackPlugin({ pluginId, withData: true }, place)).rejects.toThrow(told);
      await expect(updatePlugins([pluginId], place)).rejects.toThrow(told);
    }
  });

  it("says what there is nothing to go back to", async () => {
    const place = await openPlace();
    const back = (pluginId: string) => rollbackPlugin({ pluginId, withData: true }, place);
    await expect(back("small")).rejects.toThrow("was not updated since it was installed");
    await expect(back("other")).rejects.toThrow('"other" was not installed by clew');
  });

  it("is not made when what comes back does not work any more", async () => {
    const place = await openUpdated();
    const kept = join(place.home, "plugins/.previous/small/files/index.js");
    writeFileSync(kept, "throw new Error('rotten');");
    const attempt = rollbackPlugin({ pluginId: "small", withData: true }, place);
    await expect(attempt).rejects.toThrow("rotten");
    expect(versionIn(place)).toEqual(["2.0.0", "2.0.0"]);
  });

  it("that is killed at any moment is brought to its end by the next command", async () => {
    for (const done of [0, 1, 2, 3, 4, 5, 6]) {
      const place = await openUpdated();
      const { home } = place;
      const kept = readKept(home, "small")!;
      const current = readRecords(home).plugins.small!;
      const now = new Date().toISOString();
      const request = { home, pluginId: "small", kept, current, withData: true, now };
      const { journal, next } = planRollback(request);
      expect(journal.moves).toHaveLength(6);
      beginRollback(home, journal, next);
      for (const { from, to } of journal.moves.slice(0, done)) {
        mkdirSync(dirname(to), { recursive: true });
        renameSync(from, to);
      }
      await withPluginsLock(home, async () => {});
      expect([done, versionIn(place), told(place)]).toEqual([
        done,
        ["1.0.0", "1.0.0"],
        ["of 1.0.0", "of 1.0.0"],
      ]);
      expect(readdirSync(join(home, "plugins/.previous"))).toEqual(["small"]);
    }
  });
});

describe("the data that an update keeps", () => {
  it("is one moment of a database that somebody writes to", async () => {
    const place = await openPlace();
    const file = join(place.home, "plugin-data/small/facts.db");
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    database.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE fact (text); INSERT INTO fact VALUES (1)",
    );
    database.exec("BEGIN; INSERT INTO fact VALUES (2)");
    place.offer("2.0.0");
    await updatePlugins(["small"], place);
    database.exec("COMMIT");
    const kept = join(place.home, "plugins/.previous/small/data/own");
    expect(readdirSync(kept).sort()).toEqual([".openclaw", "facts.db"]);
    const copy = new DatabaseSync(join(kept, "facts.db"), { readOnly: true });
    onTestFinished(() => copy.close());
    expect(copy.prepare("SELECT text FROM fact").all()).toEqual([{ text: 1 }]);
  });

  it("is not kept where somebody says so, and what is told says it", async () => {
    const place = await openPlace();
    place.offer("2.0.0");
    const [report] = await updatePlugins(["small"], place, { data: false });
    expect(report!.note).toBe(
      "small: 1.0.0 -> 2.0.0. To go back to 1.0.0: clew plugins rollback small",
    );
    write(place.data.own, "of 2.0.0");
    const { notes } = await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(notes.at(-1)).toBe("Its data stays as it is.");
    expect(told(place)[0]).toBe("of 2.0.0");
  });

  it("is as it was when the update fails, and so is what was kept before", async () => {
    const place = await openUpdated();
    place.offer("3.0.0", "throw new Error('rotten');");
    await expect(updatePlugins(["small"], place)).rejects.toThrow("rotten");
    expect(versionIn(place)).toEqual(["2.0.0", "2.0.0"]);
    expect(readKept(place.home, "small")!.record.version).toBe("1.0.0");
    expect(
      readdirSync(join(place.home, "plugins")).filter((name) => /staging|replaced/.test(name)),
    ).toEqual([]);
  });

  it("goes with the plugin, and what the plugin has now stays", async () => {
    const place = await openUpdated();
    await uninstallPlugin({ pluginId: "small" }, place);
    expect(existsSync(join(place.home, "plugins/.previous"))).toBe(false);
    expect(told(place)).toEqual(["of 2.0.0", "of 2.0.0"]);
  });
});

describe("the data that is kept of a plugin", () => {
  const named = (...paths: string[]) =>
    paths.map((relativePath) => ({ disposition: "include", scope: "agent", relativePath }));

  it("is its own alone: what else its manifest names is left out, and that is told", () => {
    const others = [
      { id: "other", configSchema: {}, backupResources: named("shared/other-data") },
      { id: "clew-lossless", configSchema: {} },
    ];
    const own = ["small", "small-data/x", "./notes/"];
    const clews = ["sessions", "sessions/a.jsonl", "x/../Sessions", "reports", "workspace/small"];
    const far = ["", ".", "..", "../main/sessions", "/etc", "x/.."];
    const theirs = ["shared", "shared/other-data/a", "clew-lossless/lossless.db", "other"];
    const resources = named(...own, ...clews, ...far, ...theirs);
    const manifest = { id: "small", configSchema: {}, backupResources: resources };
    const plan = planNamedData(manifest, others);
    expect(plan.named).toEqual(["small", "small-data/x", "notes"]);
    const faults = plan.leftOut.map((text) => /because it (.*)\.$/.exec(text)![1]);
    expect(faults).toEqual([
      ...clews.map(() => "is Clew's"),
      ...far.map(() => "does not lie within an agent's folder"),
      ...theirs.map(
        (path) => `belongs to plugin "${path.startsWith("clew") ? "clew-lossless" : "other"}"`,
      ),
    ]);
  });

  it("never is a person's sessions, whatever an author says", async () => {
    const place = await openPlace();
    const manifest = { backupResources: named("sessions") };
    const session = join(place.home, "agents/main/sessions/a.jsonl");
    const source = join(place.cwd, "small");
    writePlugin(source, { manifest, packageJson: { version: "2.0.0" } });
    const [first] = await updatePlugins(["small"], place);
    expect(first?.note).toContain('"sessions" is left out, because it is Clew\'s.');
    write(session, "one");
    writePlugin(source, { manifest, packageJson: { version: "3.0.0" } });
    await updatePlugins(["small"], place);
    write(session, "one and two");
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(readFileSync(session, "utf8")).toBe("one and two");
  });

  it("is not copied or exchanged where it lies behind a link, and is never lost", async () => {
    const place = await openPlace();
    const folder = join(place.home, "plugin-data/small");
    const elsewhere = join(place.cwd, "elsewhere");
    renameSync(folder, elsewhere);
    symlinkSync(elsewhere, folder);
    place.offer("2.0.0");
    await expect(updatePlugins(["small"], place)).rejects.toThrow(/is a link to .*--no-data/);
    await updatePlugins(["small"], place, { data: false });
    const { notes } = await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(notes.join(" ")).toContain("Its data stays as it is.");
    expect(told(place)).toEqual(["of 1.0.0", "of 1.0.0"]);
  });

  it("is not copied where a part of it lies behind a link that leads out of it", async () => {
    const place = await openPlace();
    const folder = join(place.home, "plugin-data/small");
    const disk = join(place.cwd, "large-disk");
    write(join(disk, "db"), "of 1.0.0");
    symlinkSync(disk, join(folder, "store"));
    place.offer("2.0.0");
    await expect(updatePlugins(["small"], place)).rejects.toThrow(
      `(${join(folder, "store")} is a link to ${disk}), so nothing was changed; to go on without a copy, add --no-data`,
    );
    expect(versionIn(place)).toEqual(["1.0.0", "1.0.0"]);
    await updatePlugins(["small"], place, { data: false });
    write(join(folder, "store/db"), "of 2.0.0");
    const { notes } = await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(notes.join(" ")).toContain("Its data stays as it is.");
  });

  it("goes back with the links that stay within it", async () => {
    const place = await openPlace();
    const folder = join(place.home, "plugin-data/small");
    write(join(folder, "generations/1/db"), "of 1.0.0");
    symlinkSync("generations/1", join(folder, "current"));
    symlinkSync(place.data.ofAgent, join(folder, "agent-state"));
    place.offer("2.0.0");
    await updatePlugins(["small"], place);
    write(join(folder, "current/db"), "of 2.0.0");
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(readFileSync(join(folder, "current/db"), "utf8")).toBe("of 1.0.0");
  });

  it("with a link in it since, or in what an older Clew kept, is not said to be what it was", async () => {
    const place = await openUpdated();
    const elsewhere = join(place.cwd, "elsewhere");
    const links = [
      join(place.home, "plugin-data/small/.openclaw/store"),
      join(place.home, "plugins/.previous/small/data/own/.openclaw/store"),
    ];
    for (const link of links) {
      symlinkSync(elsewhere, link);
      await expect(rollbackPlugin({ pluginId: "small", withData: true }, place)).rejects.toThrow(
        `${links[0]} is a link to ${elsewhere}; nothing was changed`,
      );
      unlinkSync(link);
    }
    await rollbackPlugin({ pluginId: "small", withData: true }, place);
    expect(told(place)).toEqual(["of 1.0.0", "of 1.0.0"]);
  });

  it("that was put behind a link since is not exchanged", async () => {
    const place = await openUpdated();
    const folder = join(place.home, "plugin-data/small");
    renameSync(folder, join(place.cwd, "elsewhere"));
    symlinkSync(join(place.cwd, "elsewhere"), folder);
    const rollback = (withData: boolean) => rollbackPlugin({ pluginId: "small", withData }, place);
    await expect(rollback(true)).rejects.toThrow(/is a link to .*nothing was changed/);
    expect([versionIn(place)[0], told(place)]).toEqual(["2.0.0", ["of 2.0.0", "of 2.0.0"]]);
    await rollback(false);
    expect([versionIn(place)[0], told(place)]).toEqual(["1.0.0", ["of 2.0.0", "of 2.0.0"]]);
  });

  it("with a file that is nearly all holes is not copied for hours", async () => {
    const place = await openPlace();
    const file = join(place.home, "plugin-data/small/sparse.bin");
    writeFileSync(file, "");
    truncateSync(file, 200 * 1024 ** 3);
    place.offer("2.0.0");
    await expect(updatePlugins(["small"], place)).rejects.toThrow(/all its holes.*--no-data/);
  });
});
