package dev.vivarium.core.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// Unpacking sets file owners, which requires root.
@EnabledIf("isRoot")
class ImagesTest {
    private Path directory;
    private Images images;

    static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    @BeforeEach
    void open() throws IOException {
        directory = Files.createTempDirectory("viv-images-").toRealPath();
        images = Images.open(directory.resolve("home"));
    }

    @AfterEach
    void clear() throws IOException {
        FileTrees.delete(directory);
    }

    private static TarWriter validTar() {
        return new TarWriter()
                .directory("./")
                .directory("usr/")
                .directory("usr/bin/")
                .file("usr/bin/tool", 04755, "#!/bin/sh\n")
                .link("bin", "usr/bin");
    }

    private Image importTar(TarWriter tar) throws IOException {
        return images.importFrom("mine", Files.write(directory.resolve("image.tar"), tar.bytes()), line -> {});
    }

    private void assertRefused(TarWriter tar, String why) {
        assertThatThrownBy(() -> importTar(tar))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining(why);
        assertThat(images.list()).extracting(Image::name).containsExactly("host");
        assertThat(directory.resolve("home/images")).isDirectoryNotContaining("glob:**/.new-*");
    }

    @Test
    void hostImageAlwaysExists() throws IOException {
        var host = images.require("host");
        assertThat(host.shared()).contains(new Image.Shared(Path.of("/usr"), Path.of("/usr")));
        assertThat(Files.readString(host.root().resolve("etc/passwd"))).contains("sandboxuser:x:1000:1000");
        assertThat(host.root().resolve("etc/shadow")).doesNotExist();
        assertThat(images.require("host").root()).isEqualTo(host.root());
    }

    @Test
    void linkedLayerIsSharedOverTheHostImage() throws IOException {
        var shared = directory.resolve("shared");
        Files.createDirectories(shared.resolve("opt/vivarium"));
        Layer.mark(shared, "agent\n");
        Files.createSymbolicLink(directory.resolve("home/images/worker"), shared);
        var host = images.require("host");
        var worker = images.require("worker");
        assertThat(worker.root()).isEqualTo(host.root());
        assertThat(worker.shared())
                .containsAll(host.shared())
                .contains(new Image.Shared(shared.resolve("opt/vivarium"), Path.of("/opt/vivarium")));
        assertThat(images.list()).contains(worker);
        assertThat(host.root().resolve("opt/vivarium")).isEmptyDirectory();
    }

    @Test
    void importedMarkerFileDoesNotMakeALayer() throws IOException {
        var image = importTar(validTar().file(Layer.MARKER, "agent\n"));
        assertThat(image.shared()).isEmpty();
        assertThat(image.root()).isEqualTo(directory.resolve("home/images/mine"));
    }

    @Test
    void failedSdkInstallIsReportedAndLeavesNoImage() throws IOException {
        var fake =
                "#!/bin/sh\n[ \"$1\" = -c ] && { echo /x; echo 13; exit; }\necho 'ERROR: no route to the registry'; exit 1\n";
        var order = new WorkerImage.Order(Optional.empty(), Optional.of(python(fake)));
        assertThatThrownBy(() -> images.buildWorker(order, line -> {}))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("claude cannot be installed")
                .hasMessageContaining("PIP_INDEX_URL")
                .hasMessageContaining("no route to the registry");
        assertThat(directory.resolve("home/images")).isDirectoryNotContaining("glob:**/.new-*");
        assertThat(images.list()).extracting(Image::name).containsExactly("host");
    }

    @Test
    void oldOrMissingPythonIsRejected() throws IOException {
        var old = python("#!/bin/sh\necho /x; echo 9\n");
        var order = new WorkerImage.Order(Optional.of(Set.of(WorkerImage.Runtime.OPENHANDS)), Optional.of(old));
        assertThatThrownBy(() -> images.buildWorker(order, line -> {}))
                .hasMessageContaining("is Python 3.9; a Python 3.12 or newer with pip is needed");
        var nothing = new WorkerImage.Order(Optional.empty(), Optional.of(directory.resolve("nowhere")));
        assertThatThrownBy(() -> images.buildWorker(nothing, line -> {})).hasMessageContaining("no Python with pip");
    }

    private Path python(String script) throws IOException {
        var binaries = Files.createDirectories(directory.resolve("python/bin"));
        var program = Files.writeString(binaries.resolve("python3"), script);
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return directory.resolve("python");
    }

    @Test
    void importedArchiveGetsMountPointsAndTheUser() throws IOException {
        var image = importTar(validTar().file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"));
        assertThat(images.require("mine")).isEqualTo(image);
        for (var place : new String[] {"proc", "dev", "sys", "tmp", "workspace", "run/vivarium", "home/sandboxuser"}) {
            assertThat(image.root().resolve(place)).isDirectory();
        }
        assertThat(Files.readString(image.root().resolve("etc/passwd")))
                .startsWith("root:x:0:0")
                .contains("sandboxuser:x:1000:1000");
    }

    @Test
    void importDropsSetuidBitsAndDevices() throws IOException {
        var root = importTar(validTar().device("dev/mem").device("usr/null").file("dev/console", "x"))
                .root();
        assertThat((int) Files.getAttribute(root.resolve("usr/bin/tool"), "unix:mode") & 07777)
                .isEqualTo(0755);
        assertThat(root.resolve("usr/null")).doesNotExist();
        assertThat(root.resolve("dev")).isEmptyDirectory();
    }

    @Test
    void entryOutsideTheImageIsRejected() {
        assertRefused(validTar().file("../escaped", "x"), "leaves the image");
        assertRefused(validTar().rename("usr/../../escaped").file("innocent", "x"), "leaves the image");
        assertThat(directory.resolve("escaped")).doesNotExist();
    }

    @Test
    void malformedHeadersAreRejectedWithAReason() {
        assertRefused(validTar().extend("size", "-5").file("f", "x"), "not one");
        assertRefused(validTar().extend("size", "many").file("f", "x"), "not one");
        assertRefused(validTar().extend("long path=x\n").file("f", "x"), "damaged");
        assertRefused(validTar().extend("999999999999 path=x\n").file("f", "x"), "damaged");
        assertRefused(validTar().rename("a\0b").file("f", "x"), "zero byte");
        assertRefused(validTar().extend("linkpath", "a\0b").link("l", "x"), "zero byte");
        assertRefused(validTar().file("usr/.wh.", "x"), "whiteout");
    }

    @Test
    void symbolicLinksResolveInsideTheImage() throws IOException {
        var canary = Files.createDirectory(directory.resolve("canary"));
        var image = importTar(validTar()
                .link("out", canary.toString())
                .file("out/file", "x")
                .link("up", "../../..")
                .file("up/top", "x"));
        assertThat(canary).isEmptyDirectory();
        assertThat(image.root().resolve("." + canary).resolve("file")).exists();
        assertThat(image.root().resolve("top")).exists();
    }

    @Test
    void hardLinkOutOfTheImageIsRejected() throws IOException {
        var canary = Files.writeString(directory.resolve("canary"), "CANARY");
        assertRefused(validTar().hardLink("mine", canary.toString()), "hard link");
        assertRefused(validTar().hardLink("mine", "../../../canary"), "leaves the image");
        assertRefused(validTar().link("soft", canary.toString()).hardLink("mine", "soft"), "hard link");
    }

    @Test
    void linkAsMountPointIsRejected() {
        for (var name : new String[] {"dev", "proc", "sys", "etc", "tmp", "run", "workspace", "home"}) {
            assertRefused(validTar().link(name, "/usr"), "/" + name + " must not be a link");
        }
        assertRefused(validTar().directory("etc").link("etc/passwd", "/etc/shadow"), "/etc/passwd");
    }

    @Test
    void damagedArchiveLeavesNoImage() throws IOException {
        byte[] whole = validTar().file("usr/big", "x".repeat(5000)).bytes();
        var cut = Files.write(directory.resolve("cut.tar"), Arrays.copyOf(whole, whole.length - 3000));
        assertThatThrownBy(() -> images.importFrom("mine", cut, line -> {})).isInstanceOf(SandboxException.class);
        var noise = Files.writeString(directory.resolve("noise.tar"), "not a tar archive".repeat(100));
        assertThatThrownBy(() -> images.importFrom("mine", noise, line -> {})).hasMessageContaining("tar archive");
        assertThat(images.list()).hasSize(1);
    }

    @Test
    void layersAreStackedAndWhiteoutsApplied() throws Exception {
        var lower = validTar()
                .directory("data")
                .file("data/old", "old")
                .file("data/kept", "kept")
                .directory("all")
                .file("all/hidden", "x");
        var upper = new TarWriter()
                .file("data/.wh.old", "")
                .file("all/new", "new")
                .file("all/.wh..wh..opq", "")
                .file("bin/late", "through a link");
        var root = images.importFrom("layers", layout(lower.bytes(), gzip(upper.bytes())), line -> {})
                .root();
        assertThat(root.resolve("data/old")).doesNotExist();
        assertThat(root.resolve("data/kept")).hasContent("kept");
        assertThat(root.resolve("all")).isDirectoryContaining("glob:**/new").isDirectoryNotContaining("glob:**/hidden");
        assertThat(root.resolve("usr/bin/late")).isRegularFile();
        assertThat(Files.isSymbolicLink(root.resolve("bin"))).isTrue();
    }

    @Test
    void blobWithAWrongDigestIsRejected() throws Exception {
        var layout = layout(validTar().bytes());
        try (var blobs = Files.list(layout.resolve("blobs/sha256"))) {
            var largest = blobs.max((a, b) ->
                            Long.compare(a.toFile().length(), b.toFile().length()))
                    .orElseThrow();
            Files.writeString(largest, "changed");
        }
        assertThatThrownBy(() -> images.importFrom("mine", layout, line -> {})).hasMessageContaining("damaged");
    }

    @Test
    void dockerArchiveIsUnpacked() throws IOException {
        var archive = new TarWriter()
                .blob("abc/layer.tar", validTar().bytes())
                .file("manifest.json", "[{\"Config\":\"c.json\",\"RepoTags\":null,\"Layers\":[\"abc/layer.tar\"]}]");
        assertThat(importTar(archive).root().resolve("usr/bin/tool")).exists();
    }

    @Test
    void directoryIsCopiedWithItsLinks() throws IOException {
        var source = Files.createDirectories(directory.resolve("source/usr/bin"));
        Files.createSymbolicLink(source.resolve("shell"), Path.of("/bin/sh"));
        var root = images.importFrom("copy", directory.resolve("source"), line -> {})
                .root();
        assertThat(Files.isSymbolicLink(root.resolve("usr/bin/shell"))).isTrue();
        images.remove("copy");
        assertThat(Files.exists(root, LinkOption.NOFOLLOW_LINKS)).isFalse();
        assertThatThrownBy(() -> images.remove("copy")).hasMessageContaining("names no image: copy");
    }

    @Test
    void invalidAndDuplicateNamesAreRejected() throws IOException {
        importTar(validTar());
        assertThatThrownBy(() -> importTar(validTar())).hasMessageContaining("is there already");
        for (var name : new String[] {"../x", "", "a/b", "A", ".hidden", "host"}) {
            assertThatThrownBy(() -> images.importFrom(name, directory, line -> {}))
                    .isInstanceOf(SandboxException.class);
        }
        assertThatThrownBy(() -> images.require("no-such"))
                .hasMessageContaining("'no-such' does not exist; there is host, mine.");
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        var out = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private Path layout(byte[]... layers) throws Exception {
        var layout = Files.createDirectories(directory.resolve("layout/blobs/sha256"))
                .getParent()
                .getParent();
        Files.writeString(layout.resolve("oci-layout"), "{\"imageLayoutVersion\": \"1.0.0\"}");
        var list = new StringBuilder();
        for (byte[] layer : layers) {
            list.append(list.isEmpty() ? "" : ", ")
                    .append("{\"digest\": \"")
                    .append(blob(layout, layer))
                    .append("\"}");
        }
        var manifest = blob(layout, ("{\"layers\": [" + list + "]}").getBytes(StandardCharsets.UTF_8));
        Files.writeString(layout.resolve("index.json"), "{\"manifests\": [{\"digest\": \"" + manifest + "\"}]}");
        return layout;
    }

    private static String blob(Path layout, byte[] content) throws Exception {
        var digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        Files.write(layout.resolve("blobs/sha256").resolve(digest), content);
        return "sha256:" + digest;
    }
}
