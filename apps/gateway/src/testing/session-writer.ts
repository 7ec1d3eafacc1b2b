// A process that appends numbered messages to a session and prints each number.
import { createSessionStore } from "../sessions/store.ts";

// A file-size limit signals before it fails the write; a full disk only fails it.
process.on("SIGXFSZ", () => undefined);

const [home = "", mode = "append", size = "200", checkpointFrom = ""] = process.argv.slice(2);
const settings = checkpointFrom === "" ? {} : { checkpointFrom: Number(checkpointFrom) };
const session = await createSessionStore({ home, ...settings }).open({ key: "main", cwd: home });
console.log(`open ${session.branch().length} ${session.notes.map(({ kind }) => kind).join(",")}`);
if (mode === "hold") setInterval(() => undefined, 1000);
else await (mode === "rewrite" ? rewriteForEver() : appendForEver());

async function appendForEver() {
  for (let number = session.branch().length; ; number++) {
    try {
      await session.append([message(number)]);
      console.log(number);
    } catch (error) {
      console.log(`error ${(error as { code?: string }).code} ${(error as Error).message}`);
      await session.append([{ type: "custom", customType: "small" }]);
      console.log(`after ${session.branch().length}`);
      await session.close();
      break;
    }
  }
}

/** Rewrites the first message again and again: every rewrite re-appends the whole branch. */
async function rewriteForEver() {
  for (let number = 0; number < 50; number++) await session.append([message(number)]);
  for (let round = 0; ; round++) {
    const first = session.branch()[0]!;
    await session.rewrite({
      replacements: [{ entryId: first.id, message: { role: "user", content: `round ${round}` } }],
    });
    console.log(round);
  }
}

function message(number: number) {
  return {
    type: "message" as const,
    message: { role: "user" as const, content: `${number} ${"x".repeat(Number(size))}` },
  };
}
