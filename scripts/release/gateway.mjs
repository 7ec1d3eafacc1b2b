// Starts a gateway as people do, asks it what a person would, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { killGroup } from "./run.mjs";

const START_MS = 120_000;
const STOP_MS = 20_000;

/**
 * Starts `file args start --port 0` and waits until it says where it is.
 *
 * @param {object} options
 * @param {string} options.file
 * @param {readonly string[]} options.args
 * @param {string} options.cwd
 * @param {NodeJS.ProcessEnv} options.env
 * @param {boolean} [options.channel] it may notice that we go
 * @param {boolean} [options.group] signals reach what it starts, too
 * @param {AbortSignal} [options.signal] ends it at once
 */
export async function startGateway({
  file,
  args,
  cwd,
  env,
  channel = false,
  group = false,
  signal,
}) {
  const child = spawn(file, [...args, "start", "--port", "0"], {
    cwd,
    env,
    detached: group,
    stdio: ["ignore", "pipe", "pipe", ...(channel ? ["ipc"] : [])],
  });
  const ended = once(child, "exit");
  const send = (how) => (group ? killGroup(child.pid, how) : child.kill(how));
  const kill = () => send("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  let said = "";

  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      kill();
      reject(new Error(`it did not start: ${said}`));
    }, START_MS);
    const listen = (piece) => {
      said += piece;
      const found = /running: (http:\/\/[^/\s]+)/.exec(said);
      if (found === null) return;
      clearTimeout(late);
      resolve(found[1]);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("error", reject);
    child.on("exit", () => {
      clearTimeout(late);
      reject(new Error(`it ended instead of starting: ${said}`));
    });
  });

  async function untilEnded(how) {
    const late = setTimeout(kill, STOP_MS);
    const [code, by] = await ended;
    clearTimeout(late);
    signal?.removeEventListener("abort", kill);
    // Of a group we see only the first process, and npx passes on the signal it was ended by.
    if (group ? by !== how && code !== 0 : code !== 0)
      throw new Error(`after ${how} it ended with ${code ?? by}: ${said}`);
    if (group && (await stillAnswers())) throw new Error(`after ${how} it still answers`);
  }

  /** Whether somebody answers at its address after the time it may take to stop. */
  async function stillAnswers() {
    for (const until = Date.now() + STOP_MS; Date.now() < until; await sleep(100))
      if (!(await fetch(`${url}/api/health`).then(Boolean, () => false))) return false;
    kill();
    return true;
  }

  return {
    url,
    /** Health, the page, and an answer that needs the message before. */
    async check({ version }) {
      const health = await (await fetch(`${url}/api/health`)).json();
      if (health.status !== "ok" || health.version !== version)
        throw new Error(`health is ${JSON.stringify(health)}`);
      const page = await (await fetch(`${url}/`)).text();
      const script = /src="([^"]+\.js)"/.exec(page)?.[1];
      if (script === undefined) throw new Error(`there is no page: ${page.slice(0, 200)}`);
      const { status } = await fetch(new URL(script, `${url}/`));
      if (status !== 200) throw new Error(`${script} of the page answers ${status}`);
      await tell(url, "My cat is called Minka.");
      const reply = await tell(url, "What is my cat called?");
      if (!reply.includes("Minka")) throw new Error(`the reply does not know the cat: ${reply}`);
    },
    /** Sends a signal; the gateway must end with 0. */
    async stop(signal) {
      send(signal);
      await untilEnded(signal);
    },
    /** Closes the channel, as the death of its parent does; the gateway must end with 0. */
    async leave() {
      if (child.connected) child.disconnect();
      await untilEnded("its parent went");
    },
  };
}

async function tell(url, text) {
  const answer = await fetch(`${url}/api/sessions/main/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  const events = await answer.text();
  if (!/"outcome":\s*"completed"/.test(events)) throw new Error(`the turn failed: ${events}`);
  return [...events.matchAll(/^data: (.*)$/gm)]
    .map((match) => JSON.parse(match[1]))
    .filter(({ type }) => type === "text")
    .map(({ delta }) => delta)
    .join("");
}
