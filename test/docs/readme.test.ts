import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { documentText } from '../document.ts';

const readme = documentText('README.md');

/** Sentences of prose and list items; no code, table or heading. */
function sentencesOf(markdown: string): string[] {
  const blocks = markdown
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/^(?:#|<img|\|).*$/gm, '')
    .replaceAll(/\]\([^)]*\)|[[*]/g, '')
    .split(/\n\s*\n|^- /m);
  return blocks
    .flatMap(block => block.replaceAll(/\s+/g, ' ').split(/(?<=[.?:]) (?=[A-Z`"])/))
    .map(sentence => sentence.trim())
    .filter(sentence => sentence !== '');
}

const words = (sentence: string) => sentence.split(' ').length;

const test = suite('docs/readme');

test('at most 100 lines of at most 130 characters', () => {
  const lines = readme.trimEnd().split('\n');
  assert.ok(lines.length <= 100, `${lines.length} lines`);
  assert.equal(
    lines.filter(line => line.length > 130 && !line.startsWith('<img')),
    [],
  );
});

test('sentences of 20 words in the mean, of 30 at most', () => {
  const sentences = sentencesOf(readme);
  assert.ok(sentences.length > 25, `${sentences.length} sentences`);
  const total = sentences.reduce((sum, sentence) => sum + words(sentence), 0);
  assert.ok(total / sentences.length <= 20, `${total} words in ${sentences.length} sentences`);
  assert.equal(
    sentences.filter(sentence => words(sentence) > 30),
    [],
  );
});

test('two commands set it up: one runs the sample, one the tests', () => {
  const commands = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code!.trim());
  assert.equal(
    commands.filter(command => !command.startsWith('curl')),
    ['npm ci && npm run demo', 'npm ci && npm test'],
  );
});

test('one picture, and a link for each of four tasks', () => {
  assert.is([...readme.matchAll(/<img |!\[/g)].length, 1);
  const tasks = [...readme.matchAll(/^\| ([a-z].*?) \| .*?\]\((docs\/\w+\.md)\)/gm)].map(([, ...task]) => task);
  assert.equal(tasks, [
    ['look up alerts', 'docs/tutorial.md'],
    ['match my table', 'docs/match.md'],
    ['ask in ADQL', 'docs/tap.md'],
    ['run a server', 'docs/run.md'],
  ]);
});

test.run();
