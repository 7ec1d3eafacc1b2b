// Fills a home with sessions in every state that files can be found in.
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const AT = "2026-01-01T00:00:00.000Z";

export interface Line {
  id: string;
  parentId: string | null;
  text: string;
}

/** Lines of a session file, each entry behind the one before. */
export function transcript(id: string, texts: readonly string[], key?: string): string[] {
  const header = { type: "session", version: 3, id, timestamp: AT, cwd: "/tmp" };
  let parentId: string | null = null;
  const entries = texts.map((text, index) => {
    const entry = {
      ...{ type: "message", id: `${id}-${index}`, parentId, timestamp: AT },
      message:
        index % 2 === 0
          ? { role: "user", content: text }
          : { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
    };
    parentId = entry.id;
    return JSON.stringify(entry);
  });
  return [JSON.stringify({ ...header, ...(key !== undefined && { sessionKey: key }) }), ...entries];
}

/** Names of what the odd home has. */
export const ODD = {
  plain: "agent:main:plain",
  labelled: "agent:main:with: colons ✓ and spaces",
} as const;

/** As plugins, people, crashes and other programs leave them. */
export async function makeOddHome(home: string, { sessions = 3 } = {}): Promise<void> {
  const main = join(home, "agents/main/sessions");
  const other = join(home, "agents/other/sessions");
  for (const folder of [main, other, join(main, "empty folder"), join(main, "sub/deeper")])
    await mkdir(folder, { recursive: true });
  const index: Record<string, object> = {};
  const write = async (id: string, content: string | Buffer, key?: string, more: object = {}) => {
    await writeFile(join(main, `${id}.jsonl`), content);
    if (key !== undefined) index[key] = { sessionId: id, ...more };
  };
  const whole = (lines: readonly string[]) => `${lines.join("\n")}\n`;
  const six = ["one", "two", "three", "four", "five", "six"];
  await write("plain", whole(transcript("plain", six, ODD.plain)), ODD.plain, { updatedAt: 7 });
  await write(
    "labelled",
    whole(transcript("labelled", ["ä ö", "\u0000\ud83d\ude00"])),
    ODD.labelled,
    {
      label: "Tide tables",
    },
  );
  for (let number = 0; number < sessions; number++) {
    const id = `session-${number}`;
    const texts = Array.from(
      { length: 40 + number },
      (_, at) => `${id} says ${at} ${"x".repeat(at * 20)}`,
    );
    await write(id, whole(transcript(id, texts)), `agent:main:${id}`);
  }
  const torn = whole(transcript("torn", six));
  await write("torn", torn.slice(0, -30), "agent:main:torn");
  await write("crlf", transcript("crlf", six).join("\r\n").concat("\r\n"), "agent:main:crlf");
  await write("open-end", transcript("open-end", six).join("\n"), "agent:main:open-end");
  const bytes = Buffer.from(whole(transcript("bytes", ["mark", "two"])));
  bytes[bytes.indexOf("mark")] = 0xff;
  await write("bytes", bytes, "agent:main:bytes");
  const [head, first, second, third] = transcript("damaged", six) as [
    string,
    string,
    string,
    string,
  ];
  await write(
    "damaged",
    whole([head, first, "no json at all", "", second, third]),
    "agent:main:damaged",
  );
  const older = whole(transcript("older", six)).replace('"version":3', '"version":1');
  await write("older", older, "agent:main:older");
  const fork = transcript("forked", six);
  const leaf = { type: "message", id: "leaf", parentId: "forked-1", timestamp: AT };
  const said = { ...leaf, message: { role: "user", content: "again" } };
  await write("forked", whole([...fork, JSON.stringify(said)]), "agent:main:forked");
  await write("empty", "");
  await write("blank", "\n\n");
  await write("foreign", '{"hello":"world"}\n');
  await write("unnamed", whole(transcript("unnamed", six, "agent:main:unnamed")));
  await write("only-header", whole(transcript("only-header", [])), "agent:main:only-header");
  index["agent:main:nothing-said"] = { sessionId: "nothing-said", label: "Nothing yet" };
  await writeFile(join(main, "sessions.json"), JSON.stringify(index, null, 1));
  await writeFile(join(main, "plain.jsonl.door"), '{"v":1}\n');
  await writeFile(join(main, "plain.jsonl.removed-1-abc"), Buffer.from([0, 255, 10, 13]));
  await writeFile(join(main, "gone.jsonl.reset.2026-01-01"), "kept\n");
  await writeFile(join(main, "gone.jsonl.deleted.2026-01-01"), "kept\n");
  await writeFile(join(main, "notes 'of' \"mine\"\n.txt"), "mine\n");
  await writeFile(join(main, "sub/deeper/-rf"), "");
  await symlink("plain.jsonl", join(main, "link.jsonl"));
  await symlink("/nowhere/at/all", join(main, "dangling"));
  await writeFile(join(other, "elsewhere.jsonl"), whole(transcript("elsewhere", six)));
  for (const folder of ["outbox", "reports/parts"])
    await mkdir(join(home, "agents/main", folder), { recursive: true });
  const line = { v: 1, engineId: "lossless", change: { kind: "seen", root: "", ids: ["plain-0"] } };
  await writeFile(
    join(home, "agents/main/outbox/plain.jsonl"),
    `${JSON.stringify({ ...line, at: AT })}\n`,
  );
  await writeFile(join(home, "agents/main/reports/parts/abcdefghijklmnopqrst"), "a part");
  await writeFile(
    join(home, "agents/main/reports/parts/binary-0123456789abc"),
    Buffer.from([0x1f, 0x8b, 0]),
  );
  await writeFile(
    join(home, "agents/main/reports/plain.jsonl"),
    `{"v":1,"turnId":"t1","modelCalls":[]}\n`,
  );
  await makeOddJobs(join(home, "cron"));
}

/** As a gateway that runs one, one that was killed, and people write them. */
async function makeOddJobs(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const job = {
    ...{ v: 1, session: "agent:main:plain", message: "ä ✓", schedule: "0 8 * * 1-5" },
    ...{ timeZone: "Europe/Berlin", kind: "cron", enabled: true, createdAt: 7, enabledAt: 7 },
    ...{ maxLateMinutes: 1440, askedAt: 0 },
  };
  const run = { due: 8, startedAt: 9, endedAt: 10, outcome: "completed", missed: 0 };
  await writeFile(
    join(folder, "morning.job.json"),
    `${JSON.stringify({ id: "morning", ...job }, null, 2)}\n`,
  );
  await writeFile(
    join(folder, "morning.state.json"),
    JSON.stringify({
      ...{ askedUntil: 0, v: 1, settledUntil: 20 },
      run: { due: 20, startedAt: 21, missed: 0 },
    }),
  );
  await writeFile(
    join(folder, "morning.runs.jsonl"),
    `\n${JSON.stringify(run)}\n{"due":15,"sta\n${JSON.stringify({ ...run, due: 16, startedAt: 17 })}`,
  );
  await writeFile(join(folder, "pulse.job.json"), JSON.stringify({ ...job, id: "pulse" }));
}
