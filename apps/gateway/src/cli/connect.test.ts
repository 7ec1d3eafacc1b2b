import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONNECT_CLIENTS } from "../connect/clients.ts";
import { AS_CLIENT } from "../connect/testing/as-client.ts";
import { startUpstream } from "../door/testing/upstream.ts";
import { writeReply } from "../door/testing/write-reply.ts";
import { wireAt } from "../door/wires/find-wire.ts";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { startTestDoor } from "../testing/test-door.ts";

const IDS = CONNECT_CLIENTS.map(({ id }) => id);

async function temporaryPerson(): Promise<string> {
  const person = await mkdtemp(join(tmpdir(), "clew-person-"));
  onTestFinished(() => rm(person, { recursive: true, force: true }));
  return person;
}

/** Runs `clew connect` as a person whose own folder is `person`. */
const connect = (
  { home, person, ...variables }: { home: string; person: string; PATH?: string },
  ...args: string[]
) => clew(home, ["connect", ...args], { HOME: person, ...variables });

const connectJson = async (...given: Parameters<typeof connect>) => {
  const { code, output, errors } = await connect(...given, "--json");
  expect([code, errors]).toEqual([0, ""]);
  return JSON.parse(output);
};

async function startModel() {
  const upstream = await startUpstream(({ url }, response) => {
    const api = wireAt(url.split("?")[0]!)!.api;
    const reply = { text: "Hello, too.", thinking: "", calls: [] };
    const options = { id: "r1", usage: { input: 5, output: 3 }, streaming: false };
    const { contentType, pieces } = writeReply(api, reply, options);
    response.writeHead(200, { "content-type": contentType }).end(pieces.join(""));
  });
  onTestFinished(upstream.close);
  return upstream;
}

async function startDoor(gateway: Record<string, unknown> = {}) {
  const upstream = await startModel();
  const agents = { defaults: { model: "chat/model" } };
  const settings = { agents, ...(Object.keys(gateway).length > 0 && { gateway }) };
  const door = await startTestDoor(upstream, { settings });
  // What commands of the home read.
  const providers = Object.fromEntries(
    ["chat", "resp", "claude", "gemini"].map((id) => [
      id,
      {
        ...{ baseUrl: upstream.url, apiKey: "own-key", models: [{ id: "model" }] },
        api: {
          ...{ chat: "openai-completions", resp: "openai-responses" },
          ...{ claude: "anthropic-messages", gemini: "google-generative-ai" },
        }[id],
      },
    ]),
  );
  await writeFile(
    join(door.home, "clew.json"),
    JSON.stringify({ models: { providers }, ...settings }),
  );
  return { door, upstream };
}

describe("what clew connect writes", () => {
  it.each(IDS)("leads %s to the door, and what it asks to the model", async (id) => {
    const { door, upstream } = await startDoor();
    const place = { home: door.home, person: await temporaryPerson() };
    await connectJson(place, id, "--write");
    const { url, headers, body } = await AS_CLIENT[id]!({ ...place, usual: "model" });
    expect(url.startsWith(`${door.url}/`)).toBe(true);
    const response = await fetch(url, {
      ...{ method: "POST", body: JSON.stringify(body) },
      headers: { ...headers, "content-type": "application/json" },
    });
    expect(await response.text()).toContain("Hello, too.");
    expect(response.status).toBe(200);
    expect(upstream.heard).toHaveLength(1);
  });

  it.each(IDS)(
    "has %s show the token that is enough, and name the model it is told",
    async (id) => {
      const tokens = [
        { name: "watch", token: "read-token-0123456789", scope: "read" },
        { name: "laptop", token: "chat-token-0123456789", scope: "chat" },
      ];
      const auth = { token: "own-token-0123456789", tokens };
      const { door, upstream } = await startDoor({ auth });
      const place = { home: door.home, person: await temporaryPerson() };
      await connectJson(place, id, "--write", "--model", "model");
      const { url, headers, body, model } = await AS_CLIENT[id]!({ ...place, usual: "x" });
      expect(model).toBe("model");
      expect(JSON.stringify(headers)).toContain("chat-token-0123456789");
      expect(JSON.stringify(headers)).not.toMatch(/own-token|read-token/);
      const response = await fetch(url, {
        ...{ method: "POST", body: JSON.stringify(body) },
        headers: { ...headers, "content-type": "application/json" },
      });
      expect([response.status, await response.text()]).toEqual([
        ...[200, expect.stringContaining("Hello, too.")],
      ]);
      expect(JSON.stringify(upstream.heard[0]!.headers)).not.toContain("chat-token");
    },
  );

  it("says what Gemini CLI needs in a folder that nobody trusted, and does not set it", async () => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    const { notes, ...told } = await connectJson(place, "gemini");
    expect(notes.join()).toContain("GEMINI_CLI_TRUST_WORKSPACE=true");
    expect(JSON.stringify(told)).not.toContain("TRUST");
  });

  it.each(["claude-code", "codex", "gemini"])(
    "gives %s no need of a key where it is to ask the agent's own model",
    async (id) => {
      const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
      expect((await connectJson(place, id)).notes.join()).toMatch(/the client's own is passed on/);
      const { notes } = await connectJson(place, id, "--write", "--model", "clew");
      expect(notes.join()).not.toMatch(/passed on/);
      const { headers } = await AS_CLIENT[id]!({ ...place, usual: "x" });
      expect(JSON.stringify(headers)).not.toContain("own");
    },
  );

  it.each(IDS)("of %s goes away again, to the byte", async (id) => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    const { files } = await connectJson(place, id, "--write");
    const again = await connectJson(place, id, "--write");
    expect(again.files.map(({ changed }: { changed: boolean }) => changed)).not.toContain(true);
    const undone = await connectJson(place, id, "--undo");
    expect(undone.files.map(({ state }: { state: string }) => state)).not.toContain("taken-out");
    for (const { path } of files) expect(await lstat(path).catch(() => null)).toBeNull();
  });
});

const CLAUDE = `{
  // Mine.
  "model": "opus",
  "env": {
    "ANTHROPIC_BASE_URL": "https://proxy.example", // the company's
    "FOO": "1"
  }
}
`;
const CODEX = `# Mine.
model = "gpt-5.5" # the best
model_provider = "azure"

[model_providers.azure]
name = "Azure"
base_url = "https://azure.example"

# The end.
[tui]
theme = "dark"
`;

describe("a file that was there before", () => {
  async function placed(file: string, text: string) {
    const person = await temporaryPerson();
    const path = join(person, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await chmod(path, 0o640);
    return { path, place: { home: await homeWithOwnPort(), person } };
  }

  it.each([
    ["claude-code", ".claude/settings.json", CLAUDE],
    ["codex", ".codex/config.toml", CODEX],
    ["qwen", ".qwen/.env", "# Mine.\nOPENAI_API_KEY='sk-1'\nFOO=1"],
    ["kimi", ".kimi-code/config.toml", 'default_model = "k2"\n[models.k2]\nmodel = "k2"\n'],
    ["pi", ".pi/agent/models.json", '{"providers":{"own":{"baseUrl":"x"}}}'],
  ])("keeps its comments, its mode and all else, and comes back: %s", async (id, file, text) => {
    const { path, place } = await placed(file, text);
    await connectJson(place, id, "--write");
    const written = await readFile(path, "utf8");
    expect(written).not.toBe(text);
    for (const comment of text.match(/(?:#|\/\/) .*/g) ?? [])
      expect(written).toContain(comment.trim());
    expect((await lstat(path)).mode & 0o777).toBe(0o640);
    await connectJson(place, id, "--undo");
    expect(await readFile(path, "utf8")).toBe(text);
    expect((await lstat(path)).mode & 0o777).toBe(0o640);
  });

  it("loses only what was written where somebody changed it since", async () => {
    const { path, place } = await placed(".claude/settings.json", CLAUDE);
    await connectJson(place, "claude-code", "--write");
    const written = await readFile(path, "utf8");
    await writeFile(path, written.replace('"opus"', '"sonnet"'));
    const { files } = await connectJson(place, "claude-code", "--undo");
    expect(files).toMatchObject([{ state: "taken-out", kept: [] }]);
    expect(await readFile(path, "utf8")).toBe(CLAUDE.replace('"opus"', '"sonnet"'));
  });

  it("loses whole tables of ours, and keeps what was put behind them", async () => {
    const { path, place } = await placed(".codex/config.toml", CODEX);
    await connectJson(place, "codex", "--write");
    await writeFile(path, `${await readFile(path, "utf8")}\n[mine]\nx = 1\n`);
    await connectJson(place, "codex", "--undo");
    expect(await readFile(path, "utf8")).toBe(`${CODEX}\n[mine]\nx = 1\n`);
  });

  it("keeps a setting of ours that somebody gave another value, and says so", async () => {
    const { path, place } = await placed(".claude/settings.json", CLAUDE);
    await connectJson(place, "claude-code", "--write");
    const written = await readFile(path, "utf8");
    await writeFile(path, written.replace(/http:\/\/127[^"]*/, "https://other.example"));
    const { output, errors } = await connect(place, "claude-code", "--undo");
    expect(output).toContain("only what was written is taken out");
    expect(errors).toContain("env.ANTHROPIC_BASE_URL was changed there since, and stays.");
    expect(await readFile(path, "utf8")).toContain("https://other.example");
  });

  it("keeps the word with which a variable is exported, written, taken out and given back", async () => {
    const text = "# Mine.\nexport OPENAI_API_KEY=sk-1\nFOO=1\n";
    const { path, place } = await placed(".qwen/.env", text);
    await connectJson(place, "qwen", "--write");
    expect(await readFile(path, "utf8")).toMatch(/^export OPENAI_API_KEY=/m);
    await writeFile(path, `${await readFile(path, "utf8")}BAR=2\n`);
    await connectJson(place, "qwen", "--undo");
    expect(await readFile(path, "utf8")).toBe(`${text}BAR=2\n`);
  });

  it("has the line of a variable written that counts, and the other one told", async () => {
    const { path, place } = await placed(
      ".qwen/.env",
      "OPENAI_API_KEY=a\nFOO=1\nOPENAI_API_KEY=b\n",
    );
    const { notes } = await connectJson(place, "qwen", "--write");
    expect((await readFile(path, "utf8")).split("\n").slice(0, 2)).toEqual([
      "OPENAI_API_KEY=a",
      "FOO=1",
    ]);
    expect(notes).toContain(
      `${path} sets OPENAI_API_KEY twice, in lines 1 and 3, and line 3 counts; take the other one out.`,
    );
  });

  it("is known after a second time as it was at first", async () => {
    const { path, place } = await placed(".codex/config.toml", CODEX);
    await connectJson(place, "codex", "--write");
    await connectJson(place, "codex", "--write", "--model", "m");
    expect(await readFile(path, "utf8")).toContain('model = "m"');
    await connectJson(place, "codex", "--undo");
    expect(await readFile(path, "utf8")).toBe(CODEX);
    expect((await connect(place, "codex", "--undo")).output).toMatch(/nothing to undo/);
  });

  it("keeps the ends of lines of Windows, and is as it was after --undo", async () => {
    const windows = CODEX.replaceAll("\n", "\r\n");
    const { path, place } = await placed(".codex/config.toml", windows);
    await connectJson(place, "codex", "--write");
    const written = await readFile(path, "utf8");
    expect(written).toContain("[model_providers.clew]\r\n");
    expect(written).not.toMatch(/(?<!\r)\n/);
    await writeFile(path, `# Mine.\r\n${written}`);
    await connectJson(place, "codex", "--undo");
    expect(await readFile(path, "utf8")).not.toMatch(/(?<!\r)\n/);
  });

  it.each([
    [".codex/config.toml", "codex", 'model = "m"\nother = ]\n', /cannot be changed: .* in line 2;/],
    [".claude/settings.json", "claude-code", '{\n"a": ]\n}', /cannot be changed: .* at 2:6;/],
  ])("is told the line where it is broken: %s", async (name, client, text, said) => {
    const { place } = await placed(name, text);
    expect((await connect(place, client, "--write")).errors).toMatch(said);
  });

  it("is left alone where it is a link, or in another form", async () => {
    const { path, place } = await placed(".claude/settings.json", "[1, 2");
    const broken = await connect(place, "claude-code", "--write");
    expect(broken.code).toBe(2);
    expect(broken.errors).toMatch(/settings.json cannot be changed: .*nothing was written/);
    await rm(path);
    await writeFile(join(place.person, "elsewhere.json"), "{}");
    await symlink(join(place.person, "elsewhere.json"), path);
    const linked = await connect(place, "claude-code", "--write");
    expect(linked.code).toBe(2);
    expect(linked.errors).toMatch(/is a link, which is never followed/);
    expect(await readFile(join(place.person, "elsewhere.json"), "utf8")).toBe("{}");
  });

  it.each([
    ["an inline table", 'model_providers = { clew = { name = "x" } }\n'],
    ["a dotted key", 'model_providers.clew.name = "x"\n'],
  ])("is left alone where ours stands in it in another way: %s", async (_how, text) => {
    const { path, place } = await placed(".codex/config.toml", text);
    const { code, errors } = await connect(place, "codex", "--write");
    expect(code).toBe(2);
    expect(errors).toMatch(/config.toml cannot be changed/);
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

describe("clew connect", () => {
  it.each(IDS)("prints what %s needs, and changes nothing", async (id) => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    const { code, output, errors } = await connect(place, id);
    expect(code).toBe(0);
    expect(output).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
    expect(output).toContain("Then: ");
    expect(errors).toContain("is not running");
    const { files } = await connectJson(place, id);
    for (const { path } of files) expect(await lstat(path).catch(() => null)).toBeNull();
  });

  it.each(IDS)(
    "leaves no folder of %s behind that it made, and each that somebody uses",
    async (id) => {
      const person = await temporaryPerson();
      const place = { home: await homeWithOwnPort(), person };
      const { files } = await connectJson(place, id, "--write");
      await connectJson(place, id, "--write", "--model", "m");
      const inHome = (path: string) => relative(person, path).startsWith("..");
      const placed = files
        .map(({ path }: { path: string }) => path)
        .filter((path: string) => !inHome(path));
      const before = await readdir(person);
      await connectJson(place, id, "--undo");
      expect(await readdir(person)).toEqual([]);
      if (placed.length === 0) return;
      expect(before).not.toEqual([]);
      await connectJson(place, id, "--write");
      await writeFile(join(dirname(placed[0]), "own.txt"), "mine");
      await connectJson(place, id, "--undo");
      expect(await readFile(join(dirname(placed[0]), "own.txt"), "utf8")).toBe("mine");
    },
  );

  it("lists a client whose settings nobody can read as that, and why", async () => {
    const person = await temporaryPerson();
    const place = { home: await homeWithOwnPort(), person };
    await mkdir(join(person, ".pi/agent"), { recursive: true });
    await writeFile(join(person, ".pi/agent/models.json"), "{ broken");
    const { clients } = await connectJson(place);
    const pi = clients.find(({ id }: { id: string }) => id === "pi");
    expect(pi).toMatchObject({ state: "unreadable", why: expect.stringContaining("models.json") });
    const { code, output, errors } = await connect(place);
    expect([code, output]).toEqual([0, expect.stringMatching(/pi +.* unreadable/)]);
    expect(errors).toContain("models.json cannot be changed");
  });

  it("prints no token", async () => {
    const { door } = await startDoor({ auth: { token: "own-token-0123456789" } });
    const place = { home: door.home, person: await temporaryPerson() };
    for (const id of IDS) {
      const printed = [await connect(place, id), await connect(place, id, "--json")];
      expect(JSON.stringify(printed)).not.toContain("own-token");
      expect(JSON.stringify(printed)).toContain("CLEW_TOKEN");
    }
    expect((await connect(place, "pi")).errors).toMatch(/may do all that you may/);
  });

  it("says so where others can read the token that it writes", async () => {
    const { door } = await startDoor({ auth: { token: "own-token-0123456789" } });
    const place = { home: door.home, person: await temporaryPerson() };
    expect((await connect(place, "pi", "--write")).errors).not.toMatch(/can read the token/);
    await chmod(join(place.person, ".pi/agent/models.json"), 0o644);
    expect((await connect(place, "pi", "--write")).errors).toMatch(/can read .*models.json; run/);
  });

  it("lists which clients are there, and which are connected", async () => {
    const person = await temporaryPerson();
    const bin = join(person, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "pi"), "#!/bin/sh\n", { mode: 0o755 });
    const place = { home: await homeWithOwnPort(), person, PATH: bin };
    await connectJson(place, "kimi", "--write");
    await connectJson(place, "pi", "--write");
    await writeFile(join(person, ".pi/agent/models.json"), "{}");
    const { clients } = await connectJson(place);
    expect(clients.map(({ id }: { id: string }) => id)).toEqual(IDS);
    const of = (id: string) => clients.find((each: { id: string }) => each.id === id);
    expect(of("kimi")).toMatchObject({ installed: false, state: "yes" });
    expect(of("pi")).toMatchObject({ installed: true, state: "changed" });
    expect(of("codex")).toMatchObject({ installed: false, state: "no" });
    expect((await connect(place)).output).toMatch(/kimi +Kimi Code +no +yes/);
  });

  it("says which are not connected any more, since the gateway wants a token", async () => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    await connectJson(place, "pi", "--write");
    const file = join(place.home, "clew.json");
    const settings = JSON.parse(await readFile(file, "utf8")) as { gateway: object };
    const auth = { token: "own-token-0123456789" };
    await writeFile(file, JSON.stringify({ ...settings, gateway: { ...settings.gateway, auth } }));
    const { output, errors } = await connect(place);
    expect(output).toMatch(/pi +pi +\w+ +outdated/);
    expect(errors).toMatch(/clew connect pi --write/);
    await connectJson(place, "pi", "--write");
    expect((await connect(place)).output).toMatch(/pi +pi +\w+ +yes/);
  });

  it.each([
    [["kim"], /Did you mean "kimi"\? Known: claude-code, /],
    [["claude"], /Did you mean "claude-code"\?/],
    [["pi", "--write", "--undo"], /opposites/],
    [["--write"], /Name the client/],
  ])("says in a sentence what is wrong with %j", async (args, sentence) => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    const { code, errors } = await connect(place, ...args);
    expect(errors).toMatch(sentence);
    expect(code).toBe(2);
  });

  it("says how the door is turned on, and where a token is missing", async () => {
    const place = { home: await homeWithOwnPort(), person: await temporaryPerson() };
    const settings = (value: object) =>
      writeFile(join(place.home, "clew.json"), JSON.stringify(value));
    await settings({ door: { enabled: false } });
    expect((await connect(place, "pi")).errors).toMatch(/clew config set door.enabled true/);
    await settings({ gateway: { port: 0 } });
    expect((await connect(place, "pi")).errors).toMatch(/start it with "clew start"/);
    const tokens = [{ name: "watch", token: "read-token-0123456789" }];
    await settings({ gateway: { auth: { tokens } } });
    expect((await connect(place, "pi")).errors).toMatch(/No token of gateway.auth.tokens may chat/);
  });
});

describe("the operator guide", () => {
  it.each(CONNECT_CLIENTS.map((client) => [client.id, client] as const))(
    "names what is set for %s, and where",
    async (id, client) => {
      const guide = await readFile(
        new URL("../../../../docs/operator-guide.md", import.meta.url),
        "utf8",
      );
      // Runtimes have rows by such names, too.
      const rows = guide.split("\n").filter((line) => line.startsWith(`| \`${id}\` |`));
      const row = rows.join("\n");
      const base = { base: "http://x", model: "m" };
      const connections = [
        { ...base, token: null, signsIn: true },
        { ...base, token: "t", signsIn: false },
      ];
      for (const { place, names, set } of connections.flatMap((each) => client.files(each))) {
        const folder = place === "home" ? "$CLEW_HOME" : `~/${place.folder}`;
        expect(row).toContain(`${folder}/${names[0]}`);
        for (const { path } of set)
          expect(
            path.some((_part, at) => row.includes(`\`${path.slice(0, at + 1).join(".")}\``)),
          ).toBe(true);
      }
    },
  );
});

describe("clew connect with the name of an API", () => {
  it.each([
    ["openai", "OPENAI_BASE_URL=http://127.0.0.1:18790/v1"],
    ["Anthropic", "ANTHROPIC_BASE_URL=http://127.0.0.1:18790"],
  ])("of %s names the variable that programs of it look at, and the guide", async (name, told) => {
    const { code, errors } = await clew(await homeWithOwnPort(), ["connect", name]);
    expect(code).toBe(2);
    expect(errors).toContain(told);
    expect(errors).toContain("docs/door.md");
  });
});
