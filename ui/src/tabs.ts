// The token for a copied address: a tab that has none asks the other tabs of this page, which the browser lets hear one
// another only where scheme, host and port are the same.
//
// A cookie would go to every port of this machine's name, so any other program that listens here would be given it; and
// storage that outlives the tab would be there for whatever listens at this port next. Tabs hand it on in memory alone.

const NAME = "ridgeline-token";
/** How long a tab waits for another to answer, milliseconds. */
const PATIENCE = 600;

type Said = { ask: true } | { token: string };

/** Answers other tabs that ask. */
export function answerTabs(token: string): void {
  if (token === "" || typeof BroadcastChannel === "undefined") return;
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if ("ask" in data) channel.postMessage({ token } satisfies Said);
  };
}

/** The token of another tab; empty where none answers. */
export function askTabs(): Promise<string> {
  if (typeof BroadcastChannel === "undefined") return Promise.resolve("");
  const channel = new BroadcastChannel(NAME);
  return new Promise((found) => {
    const end = (token: string) => {
      channel.close();
      found(token);
    };
    const waiting = window.setTimeout(() => end(""), PATIENCE);
    channel.onmessage = ({ data }: MessageEvent<Said>) => {
      if (!("token" in data) || typeof data.token !== "string") return;
      window.clearTimeout(waiting);
      end(data.token);
    };
    channel.postMessage({ ask: true } satisfies Said);
  });
}
