// A menu of what of a call and its session can be saved as a file.
import { useEffect, useRef } from "preact/hooks";
import { shortName } from "../../src/sessions/keys.ts";
import { callPath, requestPath, transcriptPath } from "./inspect-api.ts";

export function Exports({ session, call }: { session: string; call: string }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const name = `${shortName(session)}-${call}`.replaceAll(/[^\w.-]+/g, "_");
  const close = () => {
    if (menu.current !== null) menu.current.open = false;
  };
  useEffect(() => {
    const onPress = ({ target }: Event) => {
      if (menu.current?.contains(target as Node) === false) close();
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, []);
  return (
    <details
      class="exports"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || menu.current?.open !== true) return;
        event.preventDefault();
        event.stopPropagation();
        close();
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary>Export</summary>
      <ul>
        <li>
          <a id="export-call" href={callPath(session, call)} download={`${name}.json`}>
            Call {call} (JSON)
          </a>
        </li>
        <li>
          <a href={requestPath(session, call)} download={`${name}.request.json`}>
            Its request, as Clew recorded it
          </a>
        </li>
        <li>
          <a href={transcriptPath(session)} download>
            The whole session (JSON Lines)
          </a>
        </li>
      </ul>
    </details>
  );
}
