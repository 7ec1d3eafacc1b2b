// How memory and disk use grow over 500 turns of one session.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defineBench } from "../runner/bench.ts";
import { newHome, say, startGateway } from "./gateway-process.ts";

const TURNS = 500;
const MB = 2 ** 20;

export default defineBench({
  name: "gateway-memory",
  description:
    "500 turns; goals: resident memory flat, at most 150 MB idle; disk at most twice the text",
  rounds: 1,
  warmups: 0,
  cases: [
    {
      name: `${TURNS} turns`,
      async prepare() {
        const gateway = await startGateway({ home: await newHome() });
        const facts: Record<string, number> = { idleMB: Math.round((await gateway.rss()) / MB) };
        let textBytes = 0;
        let turn = 0;
        return {
          async run() {
            for (const end = turn + TURNS; turn < end; turn++) {
              const text = `Turn ${turn}: my locker number is ${turn * 7}. ${"The corridor has many lockers. ".repeat(20)}`;
              await say(gateway.url, text);
              textBytes += 2 * text.length;
              if (turn % 250 === 249)
                facts[`after${turn + 1}MB`] = Math.round((await gateway.rss()) / MB);
            }
          },
          facts() {
            return facts;
          },
          async dispose() {
            await gateway.stop();
            const bytes = await sizeOf(gateway.home);
            process.stdout.write(
              `disk: ${(bytes / MB).toFixed(2)} MB for about ${(textBytes / MB).toFixed(2)} MB of text\n`,
            );
          },
        };
      },
    },
  ],
});

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  );
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
