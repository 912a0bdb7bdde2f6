package dev.kvasir.gpu.library;

import java.lang.foreign.SymbolLookup;

/** The compiler and the matrix library, found and loaded. */
public final class CudaLibraries {
  private final Nvrtc compiler;
  private final NativeLibrary matrices;

  private CudaLibraries(Nvrtc compiler, NativeLibrary matrices) {
    this.compiler = compiler;
    this.matrices = matrices;
  }

  /** Those of this machine. */
  public static CudaLibraries installed() throws LibraryMissing {
    return new CudaLibraries(Nvrtc.load(), CublasLt.load());
  }

  /** Both in one library, such as a stand-in for tests. */
  public static CudaLibraries in(String name, SymbolLookup symbols) throws LibraryMissing {
    var library = new NativeLibrary(name, symbols);
    return new CudaLibraries(new Nvrtc(library), library);
  }

  /** Returns which libraries these are. */
  public String description() {
    return compiler.description() + ", cuBLASLt (" + matrices.name() + ")";
  }

  public Nvrtc compiler() {
    return compiler;
  }

  /**
   * Opens the matrix library for the GPU that the calling thread is bound to.
   *
   * @param workspace an address on the GPU that it may write to
   */
  public CublasLt matrices(long workspace, long workspaceBytes)
      throws LibraryMissing, LibraryFailure {
    return new CublasLt(matrices, workspace, workspaceBytes);
  }
}
