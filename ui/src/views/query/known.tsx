// The tables that can be asked, by schema, and the columns of the one that was chosen: a click writes them.

import { useState } from "preact/hooks";
import { visible } from "../../format";
import { Answer } from "../../parts/answer";

interface Tables { tables: [name: string, about: string][]; order: string }
interface Columns { columns: [name: string, about: string][] }

/** Schemas that are open at first: the names of other tools are for those who know them. */
const FOREIGN = ["perfetto", "nsys", "rocpd"];

export function Known(props: { pick: (table: string) => void; write: (text: string) => void }) {
  const [find, setFind] = useState("");
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  return (
    <section class="known card" aria-label="Tables">
      <h2>Tables</h2>
      <input type="search" placeholder="Find a table" aria-label="Find a table" onInput={(event) => setFind(event.currentTarget.value.toLowerCase())} />
      {chosen !== undefined && (
        <section class="of-table" aria-label={`Columns of ${chosen}`}>
          <h3><code>{visible(chosen)}</code></h3>
          <Answer<Columns> path="query/tables" query={{ of: chosen }}>{({ columns }) => (
            <ul>{columns.map(([name, about]) => <li key={name}><button type="button" class="plain" onClick={() => props.write(name)}><code>{visible(name)}</code></button> <span class="quiet">{visible(about.replace(/\s{2,}/g, " "))}</span></li>)}</ul>
          )}</Answer>
        </section>
      )}
      <Answer<Tables> path="query/tables">{({ tables, order }) => (
        <>
          {[...bySchema(tables.filter(([name, about]) => `${name} ${about}`.toLowerCase().includes(find)))].map(([schema, all]) => (
            <details key={`${schema} ${find === ""}`} open={find !== "" || !FOREIGN.includes(schema)}>
              <summary>{visible(schema)} <span class="quiet">{all.length}</span></summary>
              <ul>{all.map(([name, about]) => (
                <li key={name}><button type="button" class="plain" title={visible(about)} aria-pressed={name === chosen} onClick={() => { setChosen(name); props.pick(name); }}><code>{visible(name.slice(schema.length + 1))}</code></button></li>
              ))}</ul>
            </details>
          ))}
          <p class="quiet">{visible(order)}</p>
        </>
      )}</Answer>
    </section>
  );
}

function bySchema(tables: [name: string, about: string][]): Map<string, [string, string][]> {
  const schemas = new Map<string, [string, string][]>();
  for (const table of tables) {
    const schema = table[0].slice(0, Math.max(0, table[0].indexOf(".")));
    schemas.set(schema, [...(schemas.get(schema) ?? []), table]);
  }
  return schemas;
}
